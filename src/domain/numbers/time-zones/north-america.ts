import type { ZoneTable } from "./zone-table.ts";

const ALL =
  "America/St_Johns America/Halifax America/New_York America/Chicago America/Regina America/Denver America/Phoenix America/Los_Angeles America/Anchorage America/Adak Pacific/Honolulu";

/**
 * Area codes of the North American Numbering Plan, each after the country code 1. A code that is not listed may be
 * anywhere.
 */
export const NORTH_AMERICA: ZoneTable = {
  code: "1",
  zones: [
    [ALL, ""],
    // Freephone, premium, personal and non-geographic numbers.
    ["", "456 500 521 522 523 524 525 526 527 528 529 532 533 535 538 542 543 544 545 546 547 549 550 552 553 554 556"],
    ["", "566 569 577 578 588 589 600 622 633 644 655 677 688 700 710 800 822 833 844 855 866 877 888 900"],

    // United States.
    ["America/New_York", "203 475 860 959 302 202 771 207 339 351 413 508 617 774 781 857 978 603 401 802"],
    ["America/New_York", "201 551 609 640 732 848 856 862 908 973 212 315 329 332 347 363 516 518 585 607 624 631 646"],
    ["America/New_York", "680 716 718 838 845 914 917 929 934 215 223 267 272 412 445 484 570 582 610 717 724 814 835"],
    ["America/New_York", "878 227 240 301 410 443 667 276 434 540 571 686 703 757 804 826 948 304 681 252 336 472 704"],
    ["America/New_York", "743 828 910 919 980 984 803 821 839 843 854 864 229 404 470 478 678 706 762 770 912 943"],
    ["America/New_York", "239 305 321 324 352 386 407 561 645 656 689 727 728 754 772 786 813 863 904 941 954"],
    ["America/New_York", "216 220 234 283 326 330 380 419 436 440 513 567 614 740 937 231 248 269 313 517 586 616"],
    ["America/New_York", "679 734 810 947 989 260 317 463 765 502 859 865"],
    ["America/New_York America/Chicago", "448 850 906 219 574 812 930 270 364 606 423"],
    ["America/Chicago", "205 251 256 334 659 938 327 479 501 870 217 224 309 312 331 447 464 618 630 708 730 773 779"],
    ["America/Chicago", "815 847 872 319 515 563 641 712 316 913 225 318 337 457 504 985 218 320 507 612 651 763 924"],
    ["America/Chicago", "952 228 601 662 769 235 314 417 557 573 636 660 816 975 402 531 405 539 572 580 918 615 629"],
    ["America/Chicago", "731 901 931 210 214 254 281 325 346 361 409 430 432 469 512 621 682 713 726 737 806 817 830"],
    ["America/Chicago", "832 903 936 940 945 956 972 979 262 274 353 414 534 608 715 920"],
    ["America/Chicago America/Denver", "620 785 308 701 605"],
    ["America/Denver", "303 719 720 748 970 983 406 505 575 385 435 801 307 915"],
    ["America/Phoenix", "480 520 602 623"],
    ["America/Phoenix America/Denver", "928"],
    ["America/Denver America/Los_Angeles", "208 986 541 458 775"],
    ["America/Los_Angeles", "209 213 279 310 323 341 350 357 369 408 415 424 442 510 530 559 562 619 626 628 650 657"],
    ["America/Los_Angeles", "661 669 707 714 738 747 760 805 818 820 831 837 840 858 909 916 925 949 951 702 725 503"],
    ["America/Los_Angeles", "971 206 253 360 425 509 564"],
    ["America/Los_Angeles America/Anchorage America/Adak Pacific/Honolulu", "907"],
    ["Pacific/Honolulu", "808"],
    ["America/Puerto_Rico", "787 939"],
    ["America/St_Thomas", "340"],
    ["Pacific/Guam", "671 670"],
    ["Pacific/Pago_Pago", "684"],

    // Canada.
    ["America/St_Johns America/Halifax America/Puerto_Rico", "709 879"],
    ["America/Halifax", "428 506 782 902"],
    ["America/Toronto", "226 249 263 289 343 354 365 382 387 416 437 438 450 468 514 519 548 613 647 683 705 742 753"],
    ["America/Toronto", "819 873 905 942"],
    ["America/Toronto America/Halifax America/Puerto_Rico", "367 418 581"],
    ["America/Toronto America/Winnipeg America/Atikokan", "807"],
    ["America/Winnipeg", "204 431 584"],
    ["America/Regina America/Edmonton", "306 474 639"],
    ["America/Edmonton", "368 403 587 780 825"],
    ["America/Vancouver", "604"],
    ["America/Vancouver America/Edmonton America/Phoenix", "236 250 257 672 778"],
    ["America/Toronto America/Winnipeg America/Atikokan America/Edmonton America/Whitehorse America/Vancouver", "867"],

    // The Caribbean and Bermuda.
    ["America/Nassau", "242"],
    ["America/Barbados", "246"],
    ["America/Anguilla", "264"],
    ["America/Antigua", "268"],
    ["America/Tortola", "284"],
    ["America/Cayman", "345"],
    ["Atlantic/Bermuda", "441"],
    ["America/Grenada", "473"],
    ["America/Grand_Turk", "649"],
    ["America/Jamaica", "658 876"],
    ["America/Montserrat", "664"],
    ["America/Lower_Princes", "721"],
    ["America/St_Lucia", "758"],
    ["America/Dominica", "767"],
    ["America/St_Vincent", "784"],
    ["America/Santo_Domingo", "809 829 849"],
    ["America/Port_of_Spain", "868"],
    ["America/St_Kitts", "869"],
  ],
};
