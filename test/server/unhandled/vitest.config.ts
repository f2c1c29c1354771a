import { defineConfig } from "vitest/config";
import base from "../../../vitest.config.ts";

const { projects: _, ...options } = base.test ?? {};

/** The options of all tests, for the files in this folder. */
export default defineConfig({
  test: { ...options, dir: import.meta.dirname, include: ["*.ts"], exclude: ["vitest.config.ts"], reporters: ["dot"] },
});
