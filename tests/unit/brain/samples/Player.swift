import Foundation
@testable import AudioKit

let MAX_VOLUME = 11

typealias Completion = (Result<Track, Error>) -> Void

/// Something that can be played.
public protocol Playable: AnyObject, Sendable {
    var title: String { get }
    func play(at time: TimeInterval) throws
}

enum State: String {
    case playing, paused

    func toggled() -> State {
        return self == .playing ? .paused : .playing
    }
}

struct Track: Codable, Hashable {
    let title: String
    static let EMPTY = Track(title: "")
}

/// Plays tracks.
@MainActor
final class Player: NSObject, Playable {
    private var queue: [Track] = []

    init(queue: [Track]) {
        self.queue = queue
        super.init()
    }

    deinit { stop() }

    // Starts.
    @discardableResult
    func play(at time: TimeInterval) throws {
        guard let track = queue.first else { throw PlayerError.empty }
        engine.schedule(track, at: time) { result in
            self.finished(result)
        }
    }

    var isEmpty: Bool {
        return queue.isEmpty
    }

    class Timer {
        func tick() { Clock.shared.advance() }
    }
}

extension Player: CustomStringConvertible {
    var description: String { "Player" }

    func skip<T: Playable>(to item: T) -> Bool {
        return contains(item)
    }
}

func makePlayer(_ names: [String]) -> Player {
    let tracks = names.map { Track(title: $0) }
    return Player(queue: tracks)
}
