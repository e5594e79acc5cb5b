"""What the benchmark of the viewer measures inside the page: scripts that run there, so that the driver takes no time.

A time ends with a painted picture: the frame in which everything is in the document, and then the beginning of the next
one (requestAnimationFrame, twice).
"""

from __future__ import annotations

from typing import Any, Final

PROBE: Final = """(() => {
    const probe = window.probe = {open: 0, ended: 0, requests: [], begun: 0, fetched: window.fetch};
    window.fetch = async (...given) => {
        const entry = {path: String(given[0]), begin: performance.now(), end: 0, how: ""};
        probe.requests.push(entry);
        probe.open += 1;
        try {
            const answer = await probe.fetched.apply(window, given);
            entry.how = String(answer.status);
            return answer;
        } catch (error) {
            entry.how = error.name;
            throw error;
        } finally {
            probe.open -= 1;
            entry.end = probe.ended = performance.now();
        }
    };
    const frame = () => new Promise(requestAnimationFrame);
    const panel = (name) => document.querySelector(`pg-${name}`);
    const idle = (element) => element && !element.isUpdatePending && element.latest.state === "idle";

    probe.painted = (place) => {
        const found = panel("picture");
        // Some events come before any picture: then the panel says so.
        return idle(found) && found.place === place && found.picture.state === "idle"
            && (found.present || !found.pictures.length) && found.view?.frame === 0;
    };
    probe.answered = (address) => {
        const found = panel("why");
        return idle(found) && found.asked === address && (found.answer || found.latest.error);
    };
    probe.listed = () => {
        const root = panel("events")?.shadowRoot;
        return root?.querySelector(".row.chosen") && root.querySelector(".foot").textContent.includes("events read");
    };

    /** The time at which what `ready` looks for is painted. */
    probe.until = async (ready, limit = 60000) => {
        const begin = performance.now();
        while (!ready()) {
            if (performance.now() - begin > limit) throw new Error(`not there after ${limit} ms`);
            await frame();
        }
        await frame();
        return performance.now();
    };
    /** Wait until no request has been open for a while. */
    probe.calm = async (quiet = 250) => {
        while (probe.open || performance.now() - probe.ended < quiet) await new Promise((done) => setTimeout(done, 20));
    };
    addEventListener("pointerup", (event) => { probe.begun = event.timeStamp; }, true);
})()"""
"""Put into the page before its own scripts."""

USABLE: Final = """async (place) => {
    const at = await probe.until(() => probe.listed() && probe.painted(place));
    return performance.timeOrigin + at;
}"""
"""When the events are listed and the picture is painted, in milliseconds since 1970."""

STEPS_OF_OPENING: Final = """() => {
    const [page] = performance.getEntriesByType("navigation");
    const script = performance.getEntriesByType("resource").find((one) => one.name.endsWith(".js"));
    const at = {page: page.responseEnd, script: script.responseEnd, asked: probe.requests[0].begin};
    return Object.fromEntries(Object.entries(at).map(([name, time]) => [name, performance.timeOrigin + time]));
}"""
"""When the page was there, its script, and its first question was asked, in milliseconds since 1970."""

GO: Final = """async (place) => {
    probe.requests.length = 0;
    const begin = performance.now();
    location.hash = place;
    return await probe.until(() => probe.painted(place)) - begin;
}"""
"""Milliseconds from the selection of another place to its picture."""

WATCH_CLICK: Final = """() => {
    const before = location.hash;
    probe.requests.length = 0;
    const wanted = () => decodeURIComponent(location.hash.slice(1));
    probe.click = probe.until(() => location.hash !== before && probe.answered(wanted()), 20000)
        .then((end) => end - probe.begun, () => -1);
}"""
"""Begins to watch for a click and its answer, which `probe.click` gives in milliseconds; -1 if none comes."""

CHOOSE: Final = """({count, seed}) => {
    const view = document.querySelector("pg-picture").view;
    const canvas = view.renderRoot.querySelector(".source");
    const {width, height} = canvas;
    const data = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer);
    let state = seed >>> 0;
    const random = (below) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % 0x1000000 * below >>> 24;
    const found = [];
    for (let tries = 0; found.length < count && tries < 20000; tries += 1) {
        const x = 1 + random(width - 2), y = 1 + random(height - 2), at = y * width + x;
        const edge = data[at] !== data[at + 1] || data[at] !== data[at + width];
        if (edge || tries > 10000) found.push([x, y]);
    }
    const box = view.getBoundingClientRect();
    return found.map(([x, y]) => {
        const [left, top] = view.pointOf(x, y);
        return [box.left + left, box.top + top];
    });
}"""
"""Where to click: pixels on edges of the picture that is shown, chosen by numbers that are the same each time."""

SCROLL: Final = """async ({panel, top, part}) => {
    const box = document.querySelector(panel).shadowRoot.querySelector(".scroll"), list = box.querySelector(".rows");
    const frame = () => new Promise(requestAnimationFrame);
    const covered = () => {
        const seen = box.getBoundingClientRect(), rows = list.getBoundingClientRect();
        return rows.top <= seen.top && rows.bottom >= seen.bottom && !list.querySelector(".waiting");
    };
    box.scrollTop = part === null ? top : part * (box.scrollHeight - box.clientHeight);
    for (let frames = 1; await frame(), !covered(); frames += 1) if (frames > 600) throw new Error("rows do not come");
    await frame();
    await frame();
    return box.querySelectorAll(".row").length;
}"""
"""Scrolls the rows of a panel to a place in pixels, or to a part of their height, and waits until those in view have
come and are painted; returns how many are in the document."""


WATCH_PICTURES: Final = """async (seconds) => {
    const panel = document.querySelector("pg-live");
    const {screens} = panel, draw = screens.draw.bind(screens);
    let pictures = 0;
    screens.draw = (some, pixels) => { draw(some, pixels); pictures += pixels.length > 0; };
    const first = panel.status.frame, begin = performance.now();
    await new Promise((done) => setTimeout(done, 1000 * seconds));
    const passed = (performance.now() - begin) / 1000;
    screens.draw = draw;
    const size = panel.status.screens.map(({width, height}) => `${width}x${height}`).join(" and ");
    return {pictures: pictures / passed, frames: (panel.status.frame - first) / passed, size};
}"""
"""Pictures that the page draws of a program that runs, and frames that it runs, in a second; the size as sent."""


class MainThread:
    """The work of a page's main thread, as Chromium counts it: scripts, layout, painting, everything."""

    def __init__(self, page: Any) -> None:
        self._session = page.context.new_cdp_session(page)
        # In time of the processor, so that other programs don't count.
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    @property
    def milliseconds(self) -> float:
        """Since the page began."""
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return 1e3 * next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


__all__ = [
    "CHOOSE", "GO", "PROBE", "SCROLL", "STEPS_OF_OPENING", "USABLE", "WATCH_CLICK", "WATCH_PICTURES", "MainThread",
]  # fmt: skip
