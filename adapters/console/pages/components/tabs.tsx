import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** One of several contents in the same place. */
export interface Tab {
  readonly name: string;
  readonly content: () => ComponentChildren;
}

/** Tabs (ARIA Authoring Practices): arrow keys move between them. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const id = useId();
  const chosen = useSignal(0);
  const move = (event: KeyboardEvent): void => {
    const next = { ArrowRight: chosen.value + 1, ArrowLeft: chosen.value - 1, Home: 0, End: tabs.length - 1 }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    chosen.value = (next + tabs.length) % tabs.length;
    document.getElementById(`${id}-tab-${chosen.value}`)?.focus();
  };
  return (
    <div class="stack">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === chosen.value}
            aria-controls={`${id}-panel`}
            tabIndex={index === chosen.value ? 0 : -1}
            onClick={() => {
              chosen.value = index;
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen.value}`}>
        {tabs[chosen.value]?.content()}
      </div>
    </div>
  );
}
