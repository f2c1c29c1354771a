import { fileURLToPath } from "node:url";

/** The folder where Node keeps the sources that it has compiled: processes and worker threads start hundreds of times. */
export const COMPILE_CACHE: string = fileURLToPath(new URL("../../.cache/compiled", import.meta.url));
