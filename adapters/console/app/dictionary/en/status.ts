export default {
  call: {
    QUEUED: "Queued",
    RINGING: "Ringing",
    IN_PROGRESS: "In progress",
    COMPLETED: "Completed",
    FAILED: "Failed",
  },
  instance: {
    CREATED: "Not linked",
    CONFIGURED: "Offline",
    ACTIVE: "Active",
    DELETED: "Deleted",
  },
};
