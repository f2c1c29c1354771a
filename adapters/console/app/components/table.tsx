import type { ComponentChildren } from "preact";

/** A column: its title, and its cell for each row. */
export interface TableColumn<T> {
  /** Title of the column; if the column holds actions, shown only to screen readers. */
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** True for the column with a row's buttons, at the end. */
  readonly action?: boolean | undefined;
}

/** Rows and columns, which become cards on narrow screens. The first column names the row. */
export function Table<T>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  /** Caption for screen readers. */
  readonly caption: string;
  readonly columns: readonly TableColumn<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}) {
  // With these roles, screen readers still treat the table as one when its display is "block".
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <table class="table" role="table">
      <caption class="visually-hidden">{caption}</caption>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <thead role="rowgroup">
        {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
        <tr role="row">
          {columns.map(({ title, action }) => (
            // biome-ignore lint/a11y/noRedundantRoles: see above
            <th key={title} role="columnheader" scope="col">
              {action ? <span class="visually-hidden">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <tbody role="rowgroup">
        {rows.map((row) => (
          // biome-ignore lint/a11y/noRedundantRoles: see above
          <tr key={keyOf(row)} role="row">
            {columns.map(({ title, cell, action }) => (
              // biome-ignore lint/a11y/noRedundantRoles: see above
              <td key={title} role="cell" data-label={title} class={action ? "table-action" : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
