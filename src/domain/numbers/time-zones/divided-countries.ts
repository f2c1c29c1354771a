import type { ZoneTable } from "./zone-table.ts";

const RUSSIA =
  "Europe/Kaliningrad Europe/Moscow Europe/Samara Asia/Yekaterinburg Asia/Omsk Asia/Novosibirsk Asia/Irkutsk Asia/Yakutsk Asia/Vladivostok Asia/Magadan Asia/Kamchatka";
const MEXICO =
  "America/Tijuana America/Hermosillo America/Mazatlan America/Ciudad_Juarez America/Ojinaga America/Mexico_City America/Matamoros America/Cancun";
const NORTH_WEST_MEXICO =
  "America/Tijuana America/Hermosillo America/Mazatlan America/Ciudad_Juarez America/Ojinaga America/Mexico_City";
const AUSTRALIA =
  "Australia/Perth Australia/Eucla Australia/Darwin Australia/Brisbane Australia/Adelaide Australia/Sydney Australia/Lord_Howe Indian/Christmas Indian/Cocos";

/**
 * Countries with several time zones. A mobile number that is not tied to a place may be in any of them, and so may a
 * number of a region that a time zone border crosses.
 */
export const DIVIDED_COUNTRIES: readonly ZoneTable[] = [
  {
    code: "55", // Brazil
    zones: [
      ["America/Noronha America/Sao_Paulo America/Manaus America/Rio_Branco", ""],
      ["America/Sao_Paulo", "11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48"],
      ["America/Sao_Paulo", "49 51 53 54 55 61 62 63 64 71 73 74 75 77 79 82 83 84 85 86 87 88 89 91 93 94 96 98 99"],
      ["America/Sao_Paulo America/Noronha", "81"], // Fernando de Noronha
      ["America/Manaus", "65 66 67 69 92 95"],
      ["America/Manaus America/Rio_Branco", "97"],
      ["America/Rio_Branco", "68"],
    ],
  },
  {
    code: "52", // Mexico
    zones: [
      [MEXICO, ""],
      ["America/Mexico_City", "22 23 24 27 28 29 33 34 35 36 37 38 39 31 32 4 55 56 58 59 7 81 82 84 9"],
      ["America/Mazatlan America/Mexico_City", "311 319 322 323 324 325 327 329 389"],
      [NORTH_WEST_MEXICO, "6"],
      ["America/Tijuana", "616 646 658 661 664 665 686"],
      ["America/Hermosillo", "622 631 632 633 634 637 641 642 643 644 645 647 651 662"],
      ["America/Tijuana America/Hermosillo", "653"],
      ["America/Mazatlan", "612 613 615 624 667 668 669 687 694 695 696 697 698"],
      ["America/Ciudad_Juarez America/Mexico_City", "656"],
      ["America/Mexico_City", "618 671 674 675 676 677"],
      ["America/Mexico_City America/Matamoros", "83 86 87 88 89"],
      ["America/Cancun", "983 984 987 997 998"],
    ],
  },
  {
    code: "56", // Chile
    zones: [
      ["America/Santiago America/Punta_Arenas Pacific/Easter", ""],
      ["America/Santiago", "2 33 34 35 4 5 63 64 65 71 72 73 74 75"],
      ["America/Santiago Pacific/Easter", "32"],
      ["America/Santiago America/Punta_Arenas", "61 67"],
    ],
  },
  {
    code: "593", // Ecuador
    zones: [
      ["America/Guayaquil Pacific/Galapagos", ""],
      ["America/Guayaquil", "2 3 4 6 7"],
    ],
  },
  {
    code: "299", // Greenland
    zones: [["America/Nuuk America/Scoresbysund America/Thule America/Danmarkshavn", ""]],
  },
  {
    code: "34", // Spain
    zones: [
      ["Europe/Madrid Atlantic/Canary", ""],
      ["Europe/Madrid", "81 82 83 84 85 86 87 88 91 92 93 94 95 96 97 98"],
      ["Atlantic/Canary", "822 828 922 928"],
    ],
  },
  {
    code: "351", // Portugal
    zones: [
      ["Europe/Lisbon Atlantic/Azores", ""],
      ["Europe/Lisbon", "2"],
      ["Atlantic/Azores", "292 295 296"],
    ],
  },
  {
    code: "7", // Russia and Kazakhstan
    zones: [
      [RUSSIA, ""],
      ["Asia/Almaty Asia/Aqtobe", "6 7"],
      ["Europe/Kaliningrad", "401"],
      ["Europe/Moscow", "47 48 49 811 812 813 814 815 816 817 818 82 831 833 834 835 836 841 843 844 847 855 856 857"],
      ["Europe/Moscow", "86 87 365 940 840"],
      ["Europe/Samara", "341 842 845 846 848 851"],
      ["Asia/Yekaterinburg", "342 343 345 346 347 349 351 352 353"],
      ["Asia/Omsk", "381"],
      ["Asia/Novosibirsk", "382 383 384 385 388 390 391 394"],
      ["Asia/Irkutsk", "301 395"],
      ["Asia/Yakutsk", "302 416"],
      ["Asia/Yakutsk Asia/Vladivostok Asia/Magadan", "411"],
      ["Asia/Vladivostok", "421 423 426"],
      ["Asia/Magadan", "413 424"],
      ["Asia/Kamchatka", "415 427"],
      ["", "80"], // freephone and premium numbers
    ],
  },
  {
    code: "61", // Australia
    zones: [
      [AUSTRALIA, ""],
      ["Australia/Sydney Australia/Adelaide Australia/Lord_Howe", "2"],
      ["Australia/Melbourne", "3"],
      ["Australia/Brisbane Australia/Sydney", "7"], // Tweed Heads is in New South Wales
      ["", "1"], // freephone and local-rate numbers
    ],
  },
  {
    code: "62", // Indonesia
    zones: [
      ["Asia/Jakarta Asia/Makassar Asia/Jayapura", ""],
      ["Asia/Jakarta", "21 22 23 24 25 26 27 28 29 31 32 33 34 35 56 6 7"],
      ["Asia/Makassar", "36 37 38 4"],
      ["Asia/Jakarta Asia/Makassar", "379 458 51 52 53 54 55"],
      ["Asia/Makassar Asia/Jayapura", "403"],
    ],
  },
  {
    code: "64", // New Zealand
    zones: [
      ["Pacific/Auckland Pacific/Chatham", ""],
      ["Pacific/Auckland", "3 4 6 7 9"],
      ["Pacific/Chatham", "3305"],
    ],
  },
  {
    code: "976", // Mongolia
    zones: [
      ["Asia/Ulaanbaatar Asia/Hovd", ""],
      ["Asia/Ulaanbaatar", "11"],
    ],
  },
];
