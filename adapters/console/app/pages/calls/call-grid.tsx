import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { CallBadge } from "../../components/badge.tsx";
import { callTypes } from "../../dictionary/call-types.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/calls.ts";
import pt from "../../dictionary/pt/calls.ts";
import { href, navigate } from "../../shell/place.ts";
import type { ListedCall } from "./call-rows.ts";
import { createdText, Duration, outcomeText } from "./call-text.tsx";
import { isNearEnd, nextRows, type RowWindow, rowAfterKey, rowWindow, type ScrollState } from "./row-window.ts";
import { spacedNumber } from "./typed-number.ts";

const t = dictionary({ en, pt });
/** Height of a row until the first one has been measured, pixels. */
const ESTIMATED_ROW_HEIGHT = 56;
/** Number of new rows per task; more rows are drawn in separate tasks, so that the page stays responsive. */
const MAX_NEW_ROWS = 8;

/**
 * Calls as a grid that draws only the rows in view; on narrow screens, each row is a card. Arrow keys move between the
 * rows. New rows push the others down only while the top of the list is in view and no row has the focus.
 */
export function CallGrid({
  rows,
  isComplete,
  instanceNames,
  onNearEnd,
}: {
  readonly rows: ReadonlySignal<readonly ListedCall[]>;
  readonly isComplete: ReadonlySignal<boolean>;
  /** Instance names, by id. */
  readonly instanceNames: ReadonlyMap<string, string>;
  /** Called when the view approaches rows that have not been read. */
  readonly onNearEnd: () => void;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const view = useSignal({ topOffset: 0, viewHeight: innerHeight, rowHeight: ESTIMATED_ROW_HEIGHT });
  /** The row to which Tab moves the focus. */
  const activeRow = useSignal<string | undefined>(undefined);
  /** The row that gets the focus once it is drawn. */
  const pendingFocus = useRef<string | undefined>(undefined);
  /** The row that stays in place, and its index, when last drawn. */
  const anchor = useRef<{ readonly id: string; readonly row: number } | undefined>(undefined);
  const scroll = useComputed((): ScrollState => ({ ...view.value, count: rows.value.length }));
  const list = rows.value;
  const { topOffset, rowHeight } = view.value;
  /** The rows drawn last. */
  const drawnRows = useRef<RowWindow>({ from: 0, to: 0 });
  /** Number of tasks that have continued a drawing. */
  const tasks = useSignal(0);
  void tasks.value;
  const targetRows = rowWindow(scroll.value);
  const requestedIndex =
    pendingFocus.current === undefined ? -1 : list.findIndex(({ id }) => id === pendingFocus.current);
  const urgentRow = requestedIndex < 0 ? Math.floor(topOffset / rowHeight) : requestedIndex;
  const { from, to } = nextRows(drawnRows.current, targetRows, urgentRow, MAX_NEW_ROWS);
  const isUnfinished = from > targetRows.from || to < targetRows.to;

  const measure = useRef(() => {
    const element = body.current;
    if (!element) return;
    const row = element.querySelector("tr");
    const topOffset = -element.getBoundingClientRect().top;
    const { viewHeight, rowHeight, ...previous } = view.peek();
    const next = { topOffset, viewHeight: innerHeight, rowHeight: row?.offsetHeight || rowHeight };
    const isSame = previous.topOffset === topOffset && viewHeight === next.viewHeight && rowHeight === next.rowHeight;
    if (!isSame) view.value = next;
  });

  useEffect(() => {
    const { current } = measure;
    current();
    addEventListener("scroll", current, { passive: true });
    addEventListener("resize", current);
    return () => {
      removeEventListener("scroll", current);
      removeEventListener("resize", current);
    };
  }, []);

  // No inline styles: the content security policy forbids them in the markup.
  useLayoutEffect(() => {
    const element = body.current;
    if (!element) return;
    element.style.paddingBlock = `${from * rowHeight}px ${(list.length - to) * rowHeight}px`;
    drawnRows.current = { from, to };
    const previousAnchor = anchor.current;
    const row = previousAnchor === undefined ? -1 : list.findIndex(({ id }) => id === previousAnchor.id);
    if (previousAnchor !== undefined && row > previousAnchor.row) scrollBy(0, (row - previousAnchor.row) * rowHeight);
    measure.current();
    if (pendingFocus.current !== undefined) {
      const row = element.querySelector<HTMLElement>(`[data-call="${pendingFocus.current}"]`);
      row?.focus({ preventScroll: true });
      if (row || !isUnfinished) pendingFocus.current = undefined;
    }
    const focusedId = element.contains(document.activeElement) ? activeRow.peek() : undefined;
    const first = list[Math.max(0, Math.floor(view.peek().topOffset / rowHeight))];
    const anchorId = focusedId ?? (view.peek().topOffset > 0 ? first?.id : undefined);
    anchor.current =
      anchorId === undefined ? undefined : { id: anchorId, row: list.findIndex(({ id }) => id === anchorId) };
    if (!isUnfinished) return;
    const next = setTimeout(() => {
      tasks.value++;
    }, 0);
    return () => clearTimeout(next);
  });

  useEffect(() => {
    if (!isComplete.value && isNearEnd(scroll.value)) onNearEnd();
  }, [scroll.value, isComplete.value]);

  const visibleRows = list.slice(from, to);
  const tabStop = visibleRows.some(({ id }) => id === activeRow.value) ? activeRow.value : visibleRows[0]?.id;

  function onKeyDown(event: KeyboardEvent): void {
    const { target, key } = event;
    if (!(target instanceof HTMLElement) || target.dataset.call === undefined) return;
    if (key === "Enter") {
      navigate(`/calls/${target.dataset.call}`);
      return;
    }
    const row = list.findIndex(({ id }) => id === target.dataset.call);
    const next = rowAfterKey(key, row, list.length, Math.floor(innerHeight / rowHeight));
    const id = next === undefined ? undefined : list[next]?.id;
    if (next === undefined || id === undefined) return;
    event.preventDefault();
    pendingFocus.current = id;
    activeRow.value = id;
    anchor.current = undefined;
    reveal(next);
    measure.current();
  }

  /** Scrolls just far enough to bring the row into view. */
  function reveal(row: number): void {
    const element = body.current;
    if (!element) return;
    const top = element.getBoundingClientRect().top + row * rowHeight;
    const coveredHeight = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    if (top < coveredHeight) scrollBy(0, top - coveredHeight);
    else if (top + rowHeight > innerHeight - coveredHeight) scrollBy(0, top + rowHeight - innerHeight + coveredHeight);
  }

  const { columns } = t.value;
  return (
    // With these roles, screen readers still treat the table as one when its display is not "table".
    <table
      class="call-grid"
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrow keys move through the rows, as in a grid
      role="grid"
      aria-label={t.value.title}
      aria-description={t.value.keys}
      aria-rowcount={isComplete.value ? list.length + 1 : -1}
    >
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <thead role="rowgroup">
        {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
        <tr class="call-grid-head" role="row" aria-rowindex={1}>
          {Object.entries(columns).map(([name, text]) => (
            // biome-ignore lint/a11y/noRedundantRoles: see above
            <th key={name} role="columnheader" scope="col" class={`call-${name}`}>
              {text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody
        // biome-ignore lint/a11y/noRedundantRoles: see above
        role="rowgroup"
        ref={body}
        onKeyDown={onKeyDown}
        onFocusIn={({ target }) => {
          if (target instanceof HTMLElement && target.dataset.call) activeRow.value = target.dataset.call;
        }}
      >
        {visibleRows.map((call, index) => (
          <Row
            key={call.id}
            call={call}
            rowIndex={from + index + 2}
            tabIndex={call.id === tabStop ? 0 : -1}
            instance={instanceNames.get(call.instance_id) ?? call.instance_id}
          />
        ))}
      </tbody>
    </table>
  );
}

function Row({
  call,
  rowIndex,
  tabIndex,
  instance,
}: {
  readonly call: ListedCall;
  readonly rowIndex: number;
  readonly tabIndex: number;
  readonly instance: string;
}) {
  const { id, status, target_phone, type, reference } = call;
  const open = (event: MouseEvent): void => {
    // The link in the row handles its own clicks.
    if (!(event.target instanceof Element && event.target.closest("a"))) navigate(`/calls/${id}`);
  };
  // A busy list is drawn five times a second, so unchanged rows are not created again.
  const cells = useMemo(
    () => (
      <>
        <Cell name="status">
          <CallBadge status={status} />
        </Cell>
        <Cell name="number">
          <a class="number" href={href(`/calls/${id}`)} tabIndex={-1}>
            {spacedNumber(target_phone)}
          </a>
          <small>{callTypes[type].value.name}</small>
        </Cell>
        <Cell name="instance">{instance}</Cell>
        <Cell name="reference">{reference}</Cell>
        <Cell name="started number">{createdText(call)}</Cell>
        <Cell name="duration number">
          <Duration call={call} />
        </Cell>
        <Cell name="outcome">{outcomeText(call)}</Cell>
      </>
    ),
    [call, instance, t.value],
  );
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <tr class="call-row" role="row" aria-rowindex={rowIndex} tabIndex={tabIndex} data-call={id} onClick={open}>
      {cells}
    </tr>
  );
}

function Cell({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the row has the focus
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: see above
    <td role="gridcell" class={`call-${name}`}>
      {children}
    </td>
  );
}
