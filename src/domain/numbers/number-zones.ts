import { COUNTRIES } from "./time-zones/countries.ts";
import { DIVIDED_COUNTRIES } from "./time-zones/divided-countries.ts";
import { NORTH_AMERICA } from "./time-zones/north-america.ts";

/** Zones by the prefixes of numbers, without the +. */
const ZONES: ReadonlyMap<string, readonly string[]> = new Map(
  [COUNTRIES, NORTH_AMERICA, ...DIVIDED_COUNTRIES].flatMap(({ code, zones }) =>
    zones.flatMap(([names, prefixes]) => {
      const zoneNames = names === "" ? [] : names.split(" ");
      return prefixes.split(" ").map((prefix) => [code + prefix, zoneNames] as const);
    }),
  ),
);

/**
 * Every time zone that a number may be in according to its country code and area code, as IANA names; none for numbers
 * not tied to a place, such as satellite numbers and the freephone numbers of some countries. A phone that travels, or
 * a number that moved with its owner, may be elsewhere.
 * @param phone E.164
 */
export function zonesOfNumber(phone: string): readonly string[] {
  for (let length = phone.length; length > 1; length--) {
    const zones = ZONES.get(phone.slice(1, length));
    if (zones) return zones;
  }
  return [];
}
