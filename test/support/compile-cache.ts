import { fileURLToPath } from "node:url";

/** Folder for Node's compile cache: processes and worker threads start hundreds of times. */
export const COMPILE_CACHE: string = fileURLToPath(new URL("../../.cache/compiled", import.meta.url));
