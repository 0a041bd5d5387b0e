package com.acme.data

import scala.collection.mutable
import scala.util.{Failure, Success => Good}
import com.acme.util._

/** A last-in-first-out list. */
trait Stack[A] extends Iterable[A] with Serializable {
  def push(item: A): Stack[A]

  def peek: Option[A] = items.headOption
}

case class Node[A](value: A, next: Option[Node[A]]) extends Base(value)

object Stack {
  val MAX_SIZE = 100
  type Items[A] = List[A]

  def empty[A]: Stack[A] = new LinkedStack[A](Nil)
}

@deprecated("use Stack")
class LinkedStack[A](items: List[A]) extends AbstractStack[A] with Stack[A] {
  private val log = Logger.get("stack")

  // Adds one.
  override def push(item: A): Stack[A] = {
    log.info(s"push $item")
    val rest = items.map(i => convert(i))
    new LinkedStack(item :: rest)
  }

  object Tools {
    def size: Int = mutable.Map.empty.size
  }
}

enum Color {
  case Red, Green
}

def main(args: Array[String]): Unit = println(Stack.empty[Int])
