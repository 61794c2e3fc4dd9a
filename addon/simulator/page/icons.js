// Our own drawings, 24×24, as outlines. Google's card format names its icons; unknown names draw a broken image.

import { el, svg } from "./dom.js";

export const BACK = "M20 12H5M11 5l-7 7 7 7";
export const CLOSE = "M6 6l12 12M18 6L6 18";
export const MORE =
  "M12 4.5a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM12 17.5a1 1 0 1 0 0 2 1 1 0 0 0 0-2z";
export const EXPAND = "M6 9l6 6 6-6";
export const SORT_UP = "M4 17l3 3 3-3M7 20V5M14 10l3-7 3 7M15 8h4M14 14h6l-6 7h6";
export const SORT_DOWN = "M4 17l3 3 3-3M7 20V5M14 3h6l-6 7h6M14 21l3-7 3 7M15 19h4";
export const ABOVE = "M3 13h18v7H3zM12 13v7M12 9V3M9 6h6";
export const BELOW = "M3 4h18v7H3zM12 4v7M12 21v-6M9 18h6";
export const DELETE = "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13";
const BROKEN = "M4 4h7l-1.5 6 3 2-2.5 3 1 5H4zM14 4h6v16h-5l-1-4.5 2.5-3-3-2z";

const CAR = "M4 16v-4l2-6h12l2 6v4zM4 12h16M7 16v3M17 16v3";
const PLANE = "M3 13l18-8-5 15-4-6zM12 14l9-9";
const BED = "M3 19V6M3 16h18v3M21 16v-5H8v5";
const PERSON = "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-5 3-7 8-7s8 2 8 7";
const TICKET = "M3 7h18v3.5a1.5 1.5 0 0 0 0 3V17H3v-3.5a1.5 1.5 0 0 0 0-3zM14 7v10";

const KNOWN = {
  AIRPLANE: PLANE,
  BOOKMARK: "M6 3h12v18l-6-4-6 4z",
  BUS: "M5 4h14v13H5zM5 11h14M8 17v3M16 17v3",
  CAR,
  CLOCK: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2",
  CONFIRMATION_NUMBER_ICON: TICKET,
  DESCRIPTION: "M6 3h8l4 4v14H6zM9 11h6M9 15h6",
  DOLLAR: "M16 8c0-2-2-3-4-3s-4 1-4 3 2 3 4 3.5 4 1.5 4 3.5-2 3-4 3-4-1-4-3M12 3v18",
  EMAIL: "M3 6h18v12H3zM3 7l9 6 9-6",
  EVENT_PERFORMER: PERSON,
  EVENT_SEAT: BED,
  FLIGHT_ARRIVAL: PLANE,
  FLIGHT_DEPARTURE: PLANE,
  HOTEL: BED,
  HOTEL_ROOM_TYPE: BED,
  INVITE: "M4 5h16v15H4zM4 10h16M8 3v4M16 3v4M12 12v6M9 15h6",
  MAP_PIN:
    "M12 21s7-6.5 7-11.5a7 7 0 1 0-14 0C5 14.5 12 21 12 21zM12 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  MEMBERSHIP: "M3 6h18v12H3zM3 10h18",
  MULTIPLE_PEOPLE:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2 20c0-4 3-6 7-6s7 2 7 6M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5c2.5.7 4 2.5 4 5.5",
  OFFER: "M3 12V4h8l10 10-8 8zM7.5 8v.01",
  PERSON,
  PHONE: "M6 3l3 5-2 2c1 3 4 6 7 7l2-2 5 3c0 2-2 3-4 3C9 21 3 14 3 7c0-2 1-4 3-4z",
  RESTAURANT_ICON: "M7 3v18M4 3v5a3 3 0 0 0 6 0V3M17 21V3c-3 2-4 6-3 10h3",
  SHOPPING_CART: "M3 4h3l2 11h10l2-8H7M9 20v.01M17 20v.01",
  STAR: "M12 3l2.8 5.9 6.2.8-4.6 4.4 1.2 6.4L12 17.3 6.4 20.5l1.2-6.4L3 9.7l6.2-.8z",
  STORE: "M4 10v10h16V10M3 10l2-6h14l2 6zM10 20v-6h4v6",
  TICKET,
  TRAIN: "M6 3h12v13H6zM6 10h12M9 16l-3 5M15 16l3 5",
  VIDEO_CAMERA: "M3 6h12v12H3zM15 11l6-4v10l-6-4",
  VIDEO_PLAY: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM10 8l6 4-6 4z",
};

/** Draw a card's Icon object. */
export function cardIcon(icon) {
  const label = icon.altText ?? "";
  const frame = el("span", {
    class: `card-icon${icon.imageType === "CIRCLE" ? " round" : ""}`,
    ...(label ? { role: "img", "aria-label": label } : {}),
  });
  if (icon.iconUrl) frame.append(el("img", { src: icon.iconUrl, alt: "", width: 24, height: 24 }));
  else frame.append(svg(KNOWN[icon.knownIcon] ?? BROKEN, { stroke: true, size: 24 }));
  if (!icon.iconUrl && !(icon.knownIcon in KNOWN)) frame.title = `${icon.knownIcon}?`;
  return frame;
}
