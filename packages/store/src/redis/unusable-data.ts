/** This process must not use the data in Redis. A repetition of its start would not change that. */
export class UnusableDataError extends Error {}
