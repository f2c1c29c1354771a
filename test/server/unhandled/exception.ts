import { test } from "vitest";

test("an error of a timer is uncaught", async () => {
  setTimeout(() => {
    throw new Error("an error without a handler");
  });
  await new Promise((resolve) => setTimeout(resolve, 1));
});
