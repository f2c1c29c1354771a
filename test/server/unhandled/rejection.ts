import { test } from "vitest";

test("a rejected promise is not awaited", async () => {
  void Promise.reject(new Error("an error without a handler"));
  await new Promise((resolve) => setTimeout(resolve));
});
