import { expect, test } from "vitest";
import { forHost } from "../src/notebook/for_host";

test("rules for the document's root become rules for the host of a shadow", () => {
  const css = ':root { --a: 1; }\n:root[data-theme="dark"] { color-scheme: dark; }\n.root { }';
  expect(forHost(css)).toBe(':host { --a: 1; }\n:host([data-theme="dark"]) { color-scheme: dark; }\n.root { }');
});
