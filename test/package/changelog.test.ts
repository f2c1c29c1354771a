import { expect, test } from "vitest";
import { releasedChangelog } from "../../.ci/changelog.ts";

const PREVIOUS = "# Changelog\n\n## 0.1.0\n\n- Add: everything.\n";

test("a new version comes first, in the order Add, Change, Fix", () => {
  const changelog = releasedChangelog(PREVIOUS, "0.2.0", [
    "Fix: a leak.\n",
    "- Add: a client.\n\nChange: the default port.",
  ]);
  expect(changelog).toBe(
    "# Changelog\n\n## 0.2.0\n\n- Add: a client.\n- Change: the default port.\n- Fix: a leak.\n\n## 0.1.0\n\n- Add: everything.\n",
  );
});

test("without a changeset the unreleased version is released", () => {
  expect(releasedChangelog(PREVIOUS.replace("0.1.0", "0.1.0 (unreleased)"), "0.1.0", [])).toBe(PREVIOUS);
  expect(() => releasedChangelog(PREVIOUS, "0.1.0", [])).toThrow(/nothing to release/);
});

test("a line of an unknown kind is rejected with its text", () => {
  expect(() => releasedChangelog(PREVIOUS, "0.2.0", ["Improve: things"])).toThrow(/"Improve: things": begin it with/);
});
