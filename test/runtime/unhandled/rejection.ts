import { test } from "vitest";

test("nobody waits for a promise that rejects", async () => {
  void Promise.reject(new Error("an error without a handler"));
  await new Promise((resolve) => setTimeout(resolve));
});
