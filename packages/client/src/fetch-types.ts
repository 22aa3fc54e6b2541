/** A name of the Fetch standard that the generated core uses, for compilers without the types of browsers. */
declare global {
  type BodyInit = NonNullable<RequestInit['body']>
}

export {}
