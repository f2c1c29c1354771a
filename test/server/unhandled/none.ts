import { test } from "vitest";

test("an error has a handler", async () => {
  await Promise.reject(new Error("an error with a handler")).catch(() => {});
});
