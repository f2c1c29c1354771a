/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The `cursor` of the page after this one; undefined on the last page. */
  readonly next: string | undefined;
}

/** One page of a log, which grows. */
export interface LogPage<T> extends Page<T> {
  /** The `cursor` to continue from, now or later; present on every page, even on the last page and on empty pages. */
  readonly cursor: string;
  /**
   * The server's database was restored to an earlier state before this page: some events that were already read are
   * lost, and this page or a later page may repeat others. Only `followEvents` sets it.
   */
  readonly reset?: true | undefined;
}

/** Selects a page of a list. */
export interface PageQuery {
  /** Number of items per page. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly cursor?: string | undefined;
}

/** The page of a response. @param link the Link header (RFC 8288) */
export function pageOf<T>(items: readonly T[], link: string | null): Page<T> {
  const [, target] = /<([^>]*)>\s*;\s*rel="?next"?/i.exec(link ?? "") ?? [];
  // Only the cursor is used: behind a proxy the rest of the URL may differ from the client's.
  const next = target === undefined ? undefined : new URLSearchParams(target.replace(/^[^?]*/, "")).get("cursor");
  return { items, next: next ?? undefined };
}

/** Every item of all pages, which are read on demand. */
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
