/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The `cursor` of the page after this one; undefined on the last page. */
  readonly next: string | undefined;
}

/** One page of a log, which grows. */
export interface LogPage<T> extends Page<T> {
  /** The `cursor` to go on from, now or later: on the last page too, and on an empty one. */
  readonly cursor: string;
}

/** Which page of a list. */
export interface PageQuery {
  /** Items of one page. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** The page of an answer. @param link the Link header (RFC 8288) */
export function pageOf<T>(items: readonly T[], link: string | null): Page<T> {
  const [, target] = /<([^>]*)>\s*;\s*rel="?next"?/i.exec(link ?? "") ?? [];
  // Only the cursor is taken from it: behind a proxy the rest of the address need not be ours.
  const next = target === undefined ? undefined : new URLSearchParams(target.replace(/^[^?]*/, "")).get("cursor");
  return { items, next: next ?? undefined };
}

/** Every item of all pages, read when they are needed. */
export async function* allItems<T>(
  read: (cursor: string | undefined) => Promise<Page<T>>,
  from?: string,
): AsyncGenerator<T, void, undefined> {
  let cursor = from;
  do {
    const { items, next } = await read(cursor);
    yield* items;
    cursor = next;
  } while (cursor !== undefined);
}
