/** A page of a list; it begins after the sort key of the last item seen. */
export interface Page {
  /** Most items to return; undefined: all. */
  readonly limit?: number | undefined;
  /** The page holds items strictly after this id in the list's order. */
  readonly after?: string | undefined;
}
