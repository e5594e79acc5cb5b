// Places for the blocks of a graph: layers by the longest way from the start, order within a layer by the
// neighbours' places. Edges that span several layers pass through places of their own, and edges that lead back go
// round on the right, each in a lane.

export interface Edge {
  from: number;
  to: number;
}

export interface Placed {
  x: number;
  y: number;
}

export interface Path {
  from: number;
  /** Its place among the edges of `from`. */
  edge: number;
  to: number;
  points: Placed[];
  back: boolean;
}

export interface Graph {
  width: number;
  height: number;
  /** The upper left of each block. */
  blocks: Placed[];
  paths: Path[];
}

/** Of blocks: all are as wide; `height` of each is that of its number, or that of all. */
export interface Size {
  width: number;
  height: number | readonly number[];
}

const GAP_X = 28;
const GAP_Y = 44;
const MARGIN = 16;
const LANE = 12;
const SLOT = 20;
const SWEEPS = 8;

interface Node {
  layer: number;
  /** The block's number, or -1 where an edge passes. */
  block: number;
  up: Node[];
  down: Node[];
  x: number;
  order: number;
}

/** Edges that lead back to a block that is being visited: without them the graph has no circle. */
export function backEdges(targets: readonly (readonly number[])[]): Set<string> {
  const back = new Set<string>();
  const state = new Uint8Array(targets.length);
  for (let start = 0; start < targets.length; start += 1) {
    if (state[start]) continue;
    const stack: { block: number; next: number }[] = [{ block: start, next: 0 }];
    state[start] = 1;
    while (stack.length) {
      const top = stack.at(-1)!;
      const to = targets[top.block]![top.next];
      if (to === undefined) {
        state[top.block] = 2;
        stack.pop();
        continue;
      }
      top.next += 1;
      if (state[to] === 1) back.add(`${top.block} ${to}`);
      else if (state[to] === 0) {
        state[to] = 1;
        stack.push({ block: to, next: 0 });
      }
    }
  }
  return back;
}

/** For each block how many blocks the longest way to it has, along edges that do not lead back. */
export function layersOf(targets: readonly (readonly number[])[], back: ReadonlySet<string>): number[] {
  const left = targets.map(() => 0);
  const ahead = (from: number): number[] => targets[from]!.filter((to) => !back.has(`${from} ${to}`));
  targets.forEach((_, from) => ahead(from).forEach((to) => (left[to] = left[to]! + 1)));
  const layers = targets.map(() => 0);
  const ready = left.flatMap((count, block) => (count ? [] : [block]));
  for (let at = 0; at < ready.length; at += 1) {
    const from = ready[at]!;
    for (const to of ahead(from)) {
      layers[to] = Math.max(layers[to]!, layers[from]! + 1);
      left[to] = left[to]! - 1;
      if (!left[to]) ready.push(to);
    }
  }
  return layers;
}

/** targets: the blocks that each block's edges lead to. size: of a block. */
export function layOut(targets: readonly (readonly number[])[], size: Size): Graph {
  const back = backEdges(targets);
  const layers = layersOf(targets, back);
  const rows: Node[][] = Array.from({ length: Math.max(0, ...layers.map((layer) => layer + 1)) }, () => []);
  const put = (layer: number, block: number): Node => {
    const node: Node = { layer, block, up: [], down: [], x: 0, order: rows[layer]!.length };
    rows[layer]!.push(node);
    return node;
  };
  const nodes = targets.map((_, block) => put(layers[block]!, block));
  const ways: { from: number; edge: number; to: number; through: Node[] }[] = [];
  targets.forEach((all, from) =>
    all.forEach((to, edge) => {
      if (back.has(`${from} ${to}`)) return;
      const through: Node[] = [];
      let last = nodes[from]!;
      const join = (next: Node): void => {
        last.down.push(next);
        next.up.push(last);
        last = next;
      };
      for (let layer = layers[from]! + 1; layer < layers[to]!; layer += 1) {
        const node = put(layer, -1);
        through.push(node);
        join(node);
      }
      join(nodes[to]!);
      ways.push({ from, edge, to, through });
    }),
  );
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) sortLayers(rows, sweep % 2 === 0);
  const width = spread(rows, size);
  return route(targets, back, nodes, ways, rows.length, width, size);
}

/** Order each layer by the mean place of the neighbours in the layer before it. */
function sortLayers(rows: Node[][], down: boolean): void {
  for (const row of down ? rows : [...rows].reverse()) {
    const means = new Map<Node, number>();
    for (const node of row) {
      const near = down ? node.up : node.down;
      means.set(node, near.length ? near.reduce((sum, one) => sum + one.order, 0) / near.length : node.order);
    }
    row.sort((a, b) => means.get(a)! - means.get(b)! || a.order - b.order);
    row.forEach((node, order) => (node.order = order));
  }
}

/** Give each node its x, the middle, near its neighbours; the width of all. */
function spread(rows: Node[][], size: Size): number {
  const widthOf = (node: Node): number => (node.block < 0 ? SLOT : size.width);
  const gap = (a: Node, b: Node): number => (widthOf(a) + widthOf(b)) / 2 + GAP_X;
  for (const row of rows) {
    let x = 0;
    row.forEach((node, at) => {
      x = at ? x + gap(row[at - 1]!, node) : 0;
      node.x = x;
    });
  }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const goals = row.map((node) => {
        const near = sweep % 2 ? node.down : node.up;
        return near.length ? near.reduce((sum, one) => sum + one.x, 0) / near.length : node.x;
      });
      // From the left and from the right each node keeps its distance; the mean of both keeps it too.
      const right: number[] = [];
      const left: number[] = new Array<number>(row.length);
      row.forEach((node, at) => (right[at] = at ? Math.max(goals[at]!, right[at - 1]! + gap(row[at - 1]!, node)) : goals[at]!));
      for (let at = row.length - 1; at >= 0; at -= 1) {
        left[at] = at < row.length - 1 ? Math.min(goals[at]!, left[at + 1]! - gap(row[at]!, row[at + 1]!)) : goals[at]!;
      }
      row.forEach((node, at) => (node.x = (right[at]! + left[at]!) / 2));
    }
  }
  const all = rows.flat();
  const least = Math.min(0, ...all.map((node) => node.x - widthOf(node) / 2));
  for (const node of all) node.x += MARGIN - least;
  return Math.max(size.width, ...all.map((node) => node.x + widthOf(node) / 2));
}

function route(
  targets: readonly (readonly number[])[],
  back: ReadonlySet<string>,
  nodes: Node[],
  ways: { from: number; edge: number; to: number; through: Node[] }[],
  layers: number,
  width: number,
  size: Size,
): Graph {
  const heightOf = (block: number): number => (typeof size.height === "number" ? size.height : (size.height[block] ?? 0));
  /** Of the highest block of each layer. */
  const heights = new Array<number>(layers).fill(0);
  nodes.forEach((node, block) => (heights[node.layer] = Math.max(heights[node.layer]!, heightOf(block))));
  const tops: number[] = [MARGIN];
  for (const height of heights) tops.push(tops.at(-1)! + height + GAP_Y);
  const top = (layer: number): number => tops[layer]!;
  const blocks = nodes.map((node) => ({ x: node.x - size.width / 2, y: top(node.layer) }));
  /** Edges leave along the lower side, next to each other. */
  const leaves = (from: number, edge: number): Placed => {
    const count = targets[from]!.length;
    const x = nodes[from]!.x + ((edge + 1) / (count + 1) - 0.5) * (size.width - 40);
    return { x, y: blocks[from]!.y + heightOf(from) };
  };
  const paths: Path[] = ways.map(({ from, edge, to, through }) => ({
    from,
    edge,
    to,
    back: false,
    points: [
      leaves(from, edge),
      ...through.flatMap((node) => [
        { x: node.x, y: top(node.layer) },
        { x: node.x, y: top(node.layer) + heights[node.layer]! },
      ]),
      { x: nodes[to]!.x, y: blocks[to]!.y },
    ],
  }));
  let lane = width + LANE;
  targets.forEach((all, from) =>
    all.forEach((to, edge) => {
      if (!back.has(`${from} ${to}`)) return;
      const start = leaves(from, edge);
      const end = { x: nodes[to]!.x + size.width / 4, y: blocks[to]!.y };
      const points = [
        start,
        { x: start.x, y: start.y + GAP_Y / 4 },
        { x: lane, y: start.y + GAP_Y / 4 },
        { x: lane, y: end.y - GAP_Y / 4 },
        { x: end.x, y: end.y - GAP_Y / 4 },
        end,
      ];
      paths.push({ from, edge, to, back: true, points });
      lane += LANE;
    }),
  );
  return { width: lane + MARGIN, height: top(layers) - GAP_Y + MARGIN + GAP_Y / 4, blocks, paths };
}

/** The path of an edge for SVG: ways down are curves, ways back have corners. */
export function drawn(path: Path): string {
  const [first, ...rest] = path.points;
  let text = `M${first!.x} ${first!.y}`;
  let last = first!;
  for (const point of rest) {
    if (path.back || point.x === last.x) text += `L${point.x} ${point.y}`;
    else {
      const middle = (last.y + point.y) / 2;
      text += `C${last.x} ${middle} ${point.x} ${middle} ${point.x} ${point.y}`;
    }
    last = point;
  }
  return text;
}
