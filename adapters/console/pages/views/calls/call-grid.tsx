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
import { spacedNumber } from "./phone-number.ts";
import { nearEnd, nextRows, type RowWindow, rowAfterKey, rowWindow, type Scrolled } from "./row-window.ts";

const t = dictionary({ en, pt });
/** Height of a row until the first one has been measured, pixels. */
const LIKELY_ROW_HEIGHT = 56;
/** New rows that one task draws; more rows follow in separate tasks, so that the page stays responsive. */
const MAX_NEW_ROWS = 8;

/**
 * Calls as a grid that draws only the rows in view; on narrow screens each row is a card. Arrow keys move through it. New
 * rows push the others down only while the top of the list is in view and no row has the focus.
 */
export function CallGrid({
  rows,
  complete,
  instanceNames,
  onNearEnd,
}: {
  readonly rows: ReadonlySignal<readonly ListedCall[]>;
  readonly complete: ReadonlySignal<boolean>;
  /** By id. */
  readonly instanceNames: ReadonlyMap<string, string>;
  /** Called when the view is about to reach rows that have not been read. */
  readonly onNearEnd: () => void;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const view = useSignal({ above: 0, viewHeight: innerHeight, rowHeight: LIKELY_ROW_HEIGHT });
  /** The row that Tab moves the focus to. */
  const active = useSignal<string | undefined>(undefined);
  /** The row that gets the focus once it is drawn. */
  const pendingFocus = useRef<string | undefined>(undefined);
  /** The row that stays in place, and its index, at the last drawing. */
  const anchor = useRef<{ readonly id: string; readonly row: number } | undefined>(undefined);
  const scrolled = useComputed((): Scrolled => ({ ...view.value, count: rows.value.length }));
  const list = rows.value;
  const { above, rowHeight } = view.value;
  /** The rows of the last drawing. */
  const drawn = useRef<RowWindow>({ from: 0, to: 0 });
  /** Counts the tasks that continue a drawing. */
  const tasks = useSignal(0);
  void tasks.value;
  const whole = rowWindow(scrolled.value);
  const requestedIndex =
    pendingFocus.current === undefined ? -1 : list.findIndex(({ id }) => id === pendingFocus.current);
  const needed = requestedIndex < 0 ? Math.floor(above / rowHeight) : requestedIndex;
  const { from, to } = nextRows(drawn.current, whole, needed, MAX_NEW_ROWS);
  const unfinished = from > whole.from || to < whole.to;

  const measure = useRef(() => {
    const element = body.current;
    if (!element) return;
    const row = element.querySelector("tr");
    const above = -element.getBoundingClientRect().top;
    const { viewHeight, rowHeight, ...before } = view.peek();
    const next = { above, viewHeight: innerHeight, rowHeight: row?.offsetHeight || rowHeight };
    const same = before.above === above && viewHeight === next.viewHeight && rowHeight === next.rowHeight;
    if (!same) view.value = next;
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
    drawn.current = { from, to };
    const previousAnchor = anchor.current;
    const row = previousAnchor === undefined ? -1 : list.findIndex(({ id }) => id === previousAnchor.id);
    if (previousAnchor !== undefined && row > previousAnchor.row) scrollBy(0, (row - previousAnchor.row) * rowHeight);
    measure.current();
    if (pendingFocus.current !== undefined) {
      const row = element.querySelector<HTMLElement>(`[data-call="${pendingFocus.current}"]`);
      row?.focus({ preventScroll: true });
      if (row || !unfinished) pendingFocus.current = undefined;
    }
    const focused = element.contains(document.activeElement) ? active.peek() : undefined;
    const first = list[Math.max(0, Math.floor(view.peek().above / rowHeight))];
    const anchorId = focused ?? (view.peek().above > 0 ? first?.id : undefined);
    anchor.current =
      anchorId === undefined ? undefined : { id: anchorId, row: list.findIndex(({ id }) => id === anchorId) };
    if (!unfinished) return;
    const next = setTimeout(() => {
      tasks.value++;
    }, 0);
    return () => clearTimeout(next);
  });

  useEffect(() => {
    if (!complete.value && nearEnd(scrolled.value)) onNearEnd();
  }, [scrolled.value, complete.value]);

  const shown = list.slice(from, to);
  const tabStop = shown.some(({ id }) => id === active.value) ? active.value : shown[0]?.id;

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
    active.value = id;
    anchor.current = undefined;
    reveal(next);
    measure.current();
  }

  /** Scrolls no further than needed to bring the row into view. */
  function reveal(row: number): void {
    const element = body.current;
    if (!element) return;
    const top = element.getBoundingClientRect().top + row * rowHeight;
    const covered = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    if (top < covered) scrollBy(0, top - covered);
    else if (top + rowHeight > innerHeight - covered) scrollBy(0, top + rowHeight - innerHeight + covered);
  }

  const { columns } = t.value;
  return (
    // The roles keep a table a table for screen readers when its display is not "table".
    <table
      class="call-grid"
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrow keys move through the rows, as in a grid
      role="grid"
      aria-label={t.value.title}
      aria-description={t.value.keys}
      aria-rowcount={complete.value ? list.length + 1 : -1}
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
          if (target instanceof HTMLElement && target.dataset.call) active.value = target.dataset.call;
        }}
      >
        {shown.map((call, index) => (
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
  // A list under load is drawn five times a second: unchanged rows are not created again.
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
