/** A share as a bar. @param value from 0 to 1 */
export function Level({ value, label }: { readonly value: number; readonly label: string }) {
  const percent = Math.round(100 * value);
  return (
    // biome-ignore lint/a11y/useSemanticElements: every browser draws a meter's bar differently.
    <svg
      class="level"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      viewBox="0 0 100 1"
      preserveAspectRatio="none"
    >
      <rect class="level-value" width={percent} height={1} />
    </svg>
  );
}
