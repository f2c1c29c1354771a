export default {
  title: "Overview",
  lead: "Your phone numbers, and what happens on them right now.",
};
