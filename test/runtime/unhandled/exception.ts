import { test } from "vitest";

test("nobody catches what a timer throws", async () => {
  setTimeout(() => {
    throw new Error("an error without a handler");
  });
  await new Promise((resolve) => setTimeout(resolve, 1));
});
