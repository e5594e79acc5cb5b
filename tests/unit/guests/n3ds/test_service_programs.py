"""Programs in C that ask services: files, settings, input, applets, sound, the system font."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pocketgpu import guests
from pocketgpu.guests.n3ds.font import Font, system_font

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[3] / "guests" / "n3ds"


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def words(app: guests.App) -> dict[str, str]:
    """What a program has printed: the last word of each line by the others."""
    return dict(line.rsplit(" ", 1) for line in lines(app.debug_text) if " " in line)


# -- files ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def card(tmp_path: Path) -> Path:
    secret = tmp_path / "secret.txt"
    secret.write_text("nobody reads this")
    folder = tmp_path / "card"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "first.txt").write_text("first note")
    (folder / "leads-out").symlink_to(secret)
    return folder


NOT_FOUND, EXISTS, PROTECTED = "c8804478", "c82044be", "c8a04490"


def test_a_program_changes_a_card_that_it_may_change(card: Path) -> None:
    with guests.run(PROGRAMS / "files.elf", sd=card, writable=True) as app:
        app.frames(20)
        assert app.end is not None and app.end.why == "exit"
        found = words(app)
        assert list(app.console.kernel.events) == []
    wanted = {
        "saved data": "c8a04554", "card": "00000000", "/none": NOT_FOUND, "/notes/first.txt": "c8804471",
        "read": "4", "beyond its end": "0", "write without the right": PROTECTED, "part": "00000000",
        "size of the part": "3", "read of the part": "2", "read after closing": "c920181a", "absent": NOT_FOUND,
        "outside": NOT_FOUND, "link to the outside": NOT_FOUND, "folder as a file": NOT_FOUND, "create": "00000000",
        "create again": EXISTS, "create one of 4 GiB": "c86044d2", "write": "6", "cut": "00000000",
        "make it again": EXISTS, "move": "00000000", "move what is not there": NOT_FOUND,
        "rename a folder": "00000000", "delete a full folder": "c92044f0", "delete a file": "00000000",
        "delete an empty folder": "00000000", "delete the card": PROTECTED, "days since 2000": "9497",
        "card is writable": "1", "closed archive": NOT_FOUND,
    }  # fmt: skip
    assert {name: found[name] for name in wanted} == wanted
    assert "note" in lines(app.debug_text) and "ot" in lines(app.debug_text)
    assert sorted(path.name for path in card.rglob("*")) == ["first.txt", "leads-out", "notes"]
    assert (card.parent / "secret.txt").read_text() == "nobody reads this"


def test_a_card_that_is_read_only_stays_as_it_is(card: Path) -> None:
    with guests.run(PROGRAMS / "files.elf", sd=card) as app:
        app.frames(20)
        found = words(app)
    for name in ("create", "make a folder", "delete the card"):
        assert found[name] == PROTECTED, name
    assert found["card is writable"] == "0" and found["move"] == NOT_FOUND
    assert (card / "notes" / "first.txt").read_text() == "first note"


# -- settings ---------------------------------------------------------------------------------------------------------
def test_settings_are_those_of_a_console_that_is_set_up() -> None:
    with guests.run(PROGRAMS / "settings.elf") as app:
        app.frames(80)
        assert app.end is not None and app.end.why == "exit"
        assert lines(app.debug_text) == [
            "language 1", "name pocket", "birthday 101", "sound 1", "country 110", "licence 256", "region 2",
            "model 0", "country's code 00004247", "set 00000000", "language 2", "battery 5", "open 1", "steps 0",
            "percent 100", "days since 2000 9497", "a second passed 1",
        ]  # fmt: skip
        assert list(app.console.kernel.events) == []


# -- input ------------------------------------------------------------------------------------------------------------
SCRIPT = """
10-12: A+UP
20-22: circle 0.5,-1
30: touch 100,120
40-41: acceleration 0.5,0,1
44: rotation 10,0,-20
50: slider 0.25
55: volume 0
"""
INPUT = """
acceleration fe000000 | z 00000000 | frame 0
slider in percent 75 | frame 0
volume 63 | frame 0
frame 10 | held 00000041 | pressed 00000041 | released 00000000
frame 13 | held 00000000 | pressed 00000000 | released 00000041
frame 20 | held 90000000 | pressed 90000000 | released 00000000
circle ff64004e | frame 20
frame 23 | held 00000000 | pressed 00000000 | released 90000000
circle 00000000 | frame 23
touch 80780064 | frame 30
touch 00000000 | frame 31
acceleration 00000100 | z 00000200 | frame 40
acceleration fe000000 | z 00000000 | frame 42
rotation 00000090 | z 0000fee0 | frame 44
rotation 00000000 | z 00000000 | frame 45
slider in percent 25 | frame 50
volume 0 | frame 55
"""
"""From the script and the units: 156 is the circle pad's edge, 512 the earth's acceleration, 14.375 a degree. The
circle pad's directions are keys, bits 28 to 31."""


def test_all_of_a_script_reaches_the_shared_memory() -> None:
    with guests.run(PROGRAMS / "input.elf") as app:
        app.play(SCRIPT)
        app.frames(80)
        assert app.end is not None and app.end.why == "exit"
        assert lines(app.debug_text) == [part for line in lines(INPUT) for part in line.split(" | ")]


def test_entries_are_written_every_4_ms_if_the_choice_says_so() -> None:
    """70 updates take 280 ms, less than 17 frames: the script's first line is all that comes."""
    with guests.run(PROGRAMS / "input.elf", switches={"guest.hid_clock": "four-ms"}) as app:
        app.play(SCRIPT)
        app.frames(80)
        assert app.end is not None and app.frame_count == 16
        held = [line for line in lines(app.debug_text) if line.startswith("held")]
        assert held == ["held 00000041", "held 00000000"]
        frames = [int(line.split()[1]) for line in lines(app.debug_text) if line.startswith("frame ")]
        # Frame 10 begins at 184 ms, frame 13 at 234 ms.
        assert frames[-2:] == [45, 58]


# -- applets ----------------------------------------------------------------------------------------------------------
APPLETS = """
5: text "hello"
6: cancel
7: text ""
30: text "bad"
35: text "good, but too long"
40: cancel
45: text "Somebody"
60: home
70: lid
80: power
90: close
"""
BEFORE = ["registered 1", "screens 3"]


def left(by: int, text: str) -> list[str]:
    """What is printed of a keyboard; the result is one more, as it may be -1."""
    return ["keyboard 10", "bytes 1024", f"left by {by + 1}", f"length {len(text)}", f"text {text}".strip()]


def test_applets_are_answered_by_the_script_at_its_frames() -> None:
    with guests.run(PROGRAMS / "applets.elf") as app:
        app.play(APPLETS)
        app.frames(34)
        # The keyboard waits for a better text.
        assert lines(app.debug_text)[-1] == "is it good bad" and not app.console.applets.answers.scripted
        app.frames(90)
        assert app.end is not None and app.end.why == "exit" and app.frame_count == 91
        assert lines(app.debug_text) == [
            "woken 1",
            *BEFORE, *left(2, "hello"), *BEFORE, *left(1, ""), *BEFORE, *left(-1, ""),
            *BEFORE, "is it good bad", "is it good good, bu", *left(5, "good, bu"), *BEFORE, *left(1, ""),
            *BEFORE, "error 10", "left by 1", *BEFORE, "no Mii 0", "name Somebody", *BEFORE, "no Mii 1", "name",
            "ready", "signal 1", *BEFORE, "back 11", "signal 3", "signal 5", "signal 6", "signal 8", "signal 11",
        ]  # fmt: skip
        assert [(one.id, one.message) for one in app.console.kernel.events] == [
            ("guest.applet", "the keyboard does not accept '', so it was cancelled"),
            ("guest.applet", "the program does not accept the text: no b"),
            ("guest.applet", "the program shows an error: nothing works"),
            ("guest.applet", "the Mii selector found no answer in the script and was cancelled"),
        ]


def test_answers_can_be_given_before() -> None:
    with guests.run(PROGRAMS / "applets.elf") as app:
        app.console.answers += ["first", None]
        app.frames(5)
        assert lines(app.debug_text)[1:15] == [*BEFORE, *left(2, "first"), *BEFORE, *left(1, "")]
        assert lines(app.debug_text)[-1] == "ready"


# -- sound ------------------------------------------------------------------------------------------------------------
def test_buffers_are_consumed_in_emulated_time() -> None:
    with guests.run(PROGRAMS / "sound.elf") as app:
        app.frames(80)
        assert app.end is not None and app.end.why == "exit"
        found = lines(app.debug_text)
        first = found.index("frame 1")
        # 1600 samples at twice the rate are five frames of 160, then two frames, then a half.
        assert found[first : found.index("sync 7") - 1] == [
            "frame 1", "buffer 1", "changed 1", "playing 1", "last 0", "position 960",
            "frame 5", "buffer 2", "changed 1", "playing 1", "last 1",
            "frame 7", "buffer 3", "changed 1", "playing 1", "last 2",
            "frame 8", "buffer 0", "changed 1", "playing 0", "last 3",
        ]  # fmt: skip
        told = words(app)
        assert abs(int(told["microseconds of ten frames"]) - 10 * 160 / 32728.498 * 1e6) < 100
        assert told["structures"] == "15" and told["stopped"] == "1" and told["no more frames"] == "1"
        # Half a second of sound: it plays at 0 and at 0.3 seconds, and not at 0.6.
        assert [line for line in found if line.startswith("plays")] == ["plays 1", "plays 1", "plays 0"]


# -- text -------------------------------------------------------------------------------------------------------------
TEXT = ("Hello, World!", "Жéα€→ß \ue000\ue003日", "jgp|W.i 0123")


def drawn(font: Font) -> np.ndarray:
    """The picture that text.c draws."""
    picture = np.zeros((240, 400), np.uint8)
    for number, line in enumerate(TEXT):
        x, y = 10, 20 + 40 * number
        for character in line:
            glyph = font.glyph(character)
            left = x + glyph.left
            place = picture[y : y + glyph.pixels.shape[0], left : left + glyph.pixels.shape[1]]
            place[glyph.pixels > 0] = 17 * glyph.pixels[glyph.pixels > 0]
            x += glyph.advance
    return picture


def test_a_program_draws_text_with_the_system_font() -> None:
    wanted = drawn(Font.read(system_font()))
    assert (wanted > 0).sum() > 2000
    with guests.run(PROGRAMS / "text.elf") as app:
        app.frames(10)
        assert lines(app.debug_text) == ["font 00000000", "mapped 00000000", "signature 554e4643", "shown"]
        for channel in range(3):
            assert (np.array(app.console.machine.screens["top"].array)[..., channel] == wanted).all()


def test_another_font_is_found_instead(tmp_path: Path) -> None:
    """A font whose glyphs are all black, as a dump of shared memory."""
    font = Font.read(system_font())
    data = bytearray(font.data)
    data[font.sheets_at : font.sheets_at + font.sheet_size * font.sheet_count] = bytes(
        font.sheet_size * font.sheet_count
    )
    path = tmp_path / "font.bin"
    path.write_bytes(Font(bytes(data)).shared_memory())
    with guests.run(PROGRAMS / "text.elf", font=path) as app:
        app.frames(10)
        assert lines(app.debug_text)[-1] == "shown"
        assert not np.array(app.console.machine.screens["top"].array).any()


# -- checkpoints ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "script", "frame"),
    [("sound", "", 1), ("sound", "", 20), ("applets", APPLETS, 33), ("applets", APPLETS, 61), ("input", SCRIPT, 21),
     ("settings", "", 30)],
)  # fmt: skip
def test_services_go_on_from_a_checkpoint(name: str, script: str, frame: int) -> None:
    """Sounds that play, a keyboard that waits for a text, sensors that are on go on as without a checkpoint."""

    def rest(app: guests.App) -> tuple[object, ...]:
        app.frames(100)
        return app.debug_text, app.frame_count, app.console.kernel.time.now, app.end and app.end.why

    runs = []
    for times in (1, 2):
        with guests.run(PROGRAMS / f"{name}.elf") as app:
            app.play(script)
            app.frames(frame)
            point = app.checkpoint() if times == 2 else None
            runs.append(rest(app))
            if point is not None:
                app.restore(point)
                runs.append(rest(app))
    assert runs[0] == runs[1] == runs[2] and runs[0][-1] == "exit"
