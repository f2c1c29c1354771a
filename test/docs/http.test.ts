import { expect, test } from "vitest";
import { simulator } from "../../adapters/telephony/simulator/index.ts";
import { documentOf } from "../http/support/document.ts";
import { serve } from "../http/support/fakes.ts";
import { blocksOf, textOf } from "./pages.ts";

/** Sections of the HTTP guide by their headings: `POST /v1/calls`. */
const sections = new Map(
  textOf("docs/http.md")
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.split("\n", 1)[0]!, section] as const),
);

test("docs/http.md has a request for each operation", async () => {
  const telephony = simulator();
  const { paths } = await documentOf(serve({ http: { pages: [telephony.pages] } }).app);
  await telephony.close();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
  );
  expect(operations.length).toBeGreaterThan(15);
  const pages = Object.entries(SEPARATE_PAGES).map(([part, page]) => [part, page, textOf(page)] as const);
  for (const operation of operations.filter((name) => !SHARED_SECTIONS.has(name))) {
    const [, page, text] = pages.find(([part]) => operation.includes(part)) ?? [];
    if (text !== undefined) {
      expect(text, `${page} does not name ${operation}`).toContain(`\`${operation}\``);
      continue;
    }
    const section = sections.get(operation);
    expect(section, `docs/http.md has no section ${operation}`).toBeDefined();
    const [, path = ""] = operation.split(" ");
    const address = path.replace(/:\w+/g, '[^/\\s"]+');
    expect(section).toMatch(new RegExp(`curl [^]*${address}["\\s?]`));
  }
});

/** Pages that describe all operations of a part of the interface. */
const SEPARATE_PAGES = { "/v1/webhooks": "docs/webhooks.md", "/v1/batches": "docs/batches.md" };

/** Operations that another operation's section describes. */
const SHARED_SECTIONS: ReadonlySet<string> = new Set([
  "GET /",
  "GET /docs",
  "GET /docs/errors",
  "GET /docs/assets/:name",
]);

test("docs/http.md names the operations that other pages describe", () => {
  const text = textOf("docs/http.md");
  for (const operation of SHARED_SECTIONS) expect(text).toContain(operation);
  expect(blocksOf("docs/http.md").some(({ text }) => text.includes("docs/assets/"))).toBe(true);
});
