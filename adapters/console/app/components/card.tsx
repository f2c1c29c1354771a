import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A part of a view, with its own heading. */
export function Card({
  title,
  actions,
  children,
}: {
  readonly title?: string | undefined;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  if (title === undefined) return <div class="card">{children}</div>;
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
