/** Why a call is not placed once `Deadlines.dial` has passed. */
export const DEADLINE_PASSED = "the server has not renewed its lease on the database in time";
