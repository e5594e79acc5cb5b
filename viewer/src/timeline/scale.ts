// Which events of a frame a timeline shows, and where: an event's place is its number, as recordings hold no times.

/** Events from `first` on, `perPixel` of them for each pixel of the width. */
export interface Scale {
  first: number;
  perPixel: number;
  width: number;
  count: number;
}

/** The most pixels for an event. */
const WIDEST = 24;

/** All events in a width. */
export function whole(count: number, width: number): Scale {
  return held({ first: 0, perPixel: Math.max(count, 1) / Math.max(width, 1), width, count });
}

/** The same with events in view, and no event wider than WIDEST. */
function held(scale: Scale): Scale {
  const perPixel = Math.min(Math.max(scale.perPixel, 1 / WIDEST), Math.max(scale.count / Math.max(scale.width, 1), 1 / WIDEST));
  const first = Math.min(Math.max(scale.first, 0), Math.max(0, scale.count - perPixel * scale.width));
  return { ...scale, first, perPixel };
}

/** Closer by a factor; the event at `x` stays there. */
export function zoomed(scale: Scale, factor: number, x: number): Scale {
  const at = eventAt(scale, x);
  const perPixel = held({ ...scale, perPixel: scale.perPixel / factor }).perPixel;
  return held({ ...scale, perPixel, first: at - x * perPixel });
}

export function moved(scale: Scale, pixels: number): Scale {
  return held({ ...scale, first: scale.first + pixels * scale.perPixel });
}

export function resized(scale: Scale, width: number): Scale {
  return held({ ...scale, width });
}

/** Bring an event into view. */
export function reaching(scale: Scale, event: number): Scale {
  const seen = scale.perPixel * scale.width;
  if (event >= scale.first && event + 1 <= scale.first + seen) return scale;
  return held({ ...scale, first: event + 0.5 - seen / 2 });
}

/** The place of an event's left side. */
export function xOf(scale: Scale, event: number): number {
  return (event - scale.first) / scale.perPixel;
}

/** The event at a place, with a fraction. */
export function eventAt(scale: Scale, x: number): number {
  return scale.first + x * scale.perPixel;
}

/** Where in an ascending list the first number is that is not below `wanted`. */
export function lowerBound(numbers: readonly number[], wanted: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The event of a track at a place, or the nearest within some pixels. */
export function hit(scale: Scale, numbers: readonly number[], x: number, within = 4): number | null {
  const wanted = Math.floor(eventAt(scale, x));
  const at = lowerBound(numbers, wanted);
  if (numbers[at] === wanted) return wanted;
  const near = [numbers[at - 1], numbers[at]].filter((one) => one !== undefined);
  const distance = (one: number): number => Math.abs(one + 0.5 - eventAt(scale, x)) / scale.perPixel;
  const best = near.sort((a, b) => distance(a) - distance(b))[0];
  return best !== undefined && distance(best) <= within ? best : null;
}

/** Stretches of a track to draw, in pixels: events that are narrower than a pixel share one. */
export function stretches(scale: Scale, numbers: readonly number[]): { from: number; to: number; first: number }[] {
  const found: { from: number; to: number; first: number }[] = [];
  const end = scale.first + scale.perPixel * scale.width;
  let at = lowerBound(numbers, Math.floor(scale.first));
  while (at < numbers.length && numbers[at]! < end) {
    const first = numbers[at]!;
    const from = xOf(scale, first);
    const to = Math.max(xOf(scale, first + 1), from + 1);
    found.push({ from, to, first });
    // The next one that is not under this one.
    const next = scale.perPixel > 1 ? lowerBound(numbers, Math.floor(eventAt(scale, to))) : at + 1;
    at = Math.max(next, at + 1);
  }
  return found;
}
