import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A tab and its content. */
export interface Tab {
  readonly name: string;
  readonly content: () => ComponentChildren;
}

/** Tabs (ARIA Authoring Practices): arrow keys move between them. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const id = useId();
  const selected = useSignal(0);
  const move = (event: KeyboardEvent): void => {
    const next = { ArrowRight: selected.value + 1, ArrowLeft: selected.value - 1, Home: 0, End: tabs.length - 1 }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    selected.value = (next + tabs.length) % tabs.length;
    document.getElementById(`${id}-tab-${selected.value}`)?.focus();
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
            aria-selected={index === selected.value}
            aria-controls={`${id}-panel`}
            tabIndex={index === selected.value ? 0 : -1}
            onClick={() => {
              selected.value = index;
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${selected.value}`}>
        {tabs[selected.value]?.content()}
      </div>
    </div>
  );
}
