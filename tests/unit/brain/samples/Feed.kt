package com.acme.feed

import com.acme.net.Client
import com.acme.util.*
import kotlin.math.max as biggest

const val MAX_POSTS = 100

typealias Posts = List<Post>

/** A post. */
data class Post(val id: Long, val text: String) : Item(id), Comparable<Post> {
    override fun compareTo(other: Post): Int = id.compareTo(other.id)

    companion object {
        const val EMPTY = ""

        fun empty() = Post(0, EMPTY)
    }
}

interface Source<T> : Closeable {
    suspend fun load(limit: Int): List<T>
}

enum class State { OPEN, CLOSED }

object Registry : Source<Post> by Client() {
    private val sources = mutableMapOf<String, Source<Post>>()

    @Synchronized
    fun register(name: String, source: Source<Post>) {
        sources[name] = source
        Log.info("registered $name ${describe(source)}")
    }
}

// Shortens a text.
fun String.short(length: Int = 10): String = take(biggest(length, 1))

class Feed(private val client: Client) {
    fun posts(): Posts {
        val found = client.fetch(MAX_POSTS)
        return found.filter { it.text.isNotEmpty() }.map { post -> parse(post) }
    }

    sealed class Result {
        object Empty : Result()
    }
}
