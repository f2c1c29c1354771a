/** A page of a list; it starts after the sort key of the last item seen. */
export interface Page {
  /** Maximum number of items to return; undefined for all. */
  readonly limit?: number | undefined;
  /** The page holds items strictly after this id in the list's order. */
  readonly after?: string | undefined;
}
