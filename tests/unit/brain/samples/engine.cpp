// Runs the game.
#include <vector>
#include "game/engine.hpp"

using namespace std;
using game::Player;
namespace fs = std::filesystem;

constexpr int MAX_PLAYERS = 4;

namespace game::core {

/// A thing that moves.
template <typename T>
class Engine : public Base<T>, private virtual detail::Timer {
public:
    explicit Engine(int players = 2) : players_(players) { reset(); }
    virtual ~Engine() = default;

    // Runs one step.
    [[nodiscard]] virtual bool step(double dt) const override;
    bool operator==(const Engine& other) const { return players_ == other.players_; }
    static constexpr int LIMIT = 8;

    struct State {
        int frame = 0;
        void next() { ++frame; }
    };

private:
    int players_;
};

enum class Mode : int { Play, Pause };

using Callback = std::function<void(Mode)>;

class World;

class Screen {
public:
    void draw(const World& world);
    Screen* clone();
};

void Screen::draw(const World& world) {
    auto* brush = new Brush(world);
    for (auto& item : world.items()) {
        brush->paint(item.shape, Mode::Play);
    }
    std::sort(begin(items_), end(items_));
}

Screen* Screen::clone() { return new Screen(*this); }

}  // namespace game::core

template <class T>
T clamp(T value, T low) {
    return std::max<T>(value, low);
}

int main() {
    game::core::Engine<int> engine;
    auto run = [&](int n) { return engine.step(n); };
    return static_cast<int>(run(1));
}
