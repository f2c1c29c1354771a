import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { navigations } from "../shell/place.ts";

/** Number of the latest navigation after which a page received the focus. */
let focusedNavigation = 0;

/** A view with its heading, which becomes the tab's title and gets the focus after a navigation. */
export function PageLayout({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: string;
  /** One or two sentences below the title. */
  readonly lead?: ComponentChildren;
  /** Buttons next to the title. */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Ringport`;
  }, [title]);
  useLayoutEffect(() => {
    if (focusedNavigation === navigations.peek()) return;
    focusedNavigation = navigations.peek();
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <div class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p class="page-lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </>
  );
}
