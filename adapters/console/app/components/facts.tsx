import { type ComponentChildren, Fragment } from "preact";

type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values in two columns. */
export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** A batch's numbers and times, side by side. */
export function FactRow({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="batch-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
