// The part of the package that `pglite-storage.ts` uses, so that it type-checks without it. Delete this file once the
// package is installed: it has its own types.
declare module "@electric-sql/pglite" {
  export const PGlite: new (folder?: string) => import("kysely").PGlite;
}
