/** A list whose members carry their own links: append and remove in O(1) without an allocation. */

export interface Linked<T> {
  previous: T | undefined
  next: T | undefined
}

/** A member is in one list at a time, or in none. */
export class LinkedList<T extends Linked<T>> {
  first: T | undefined
  last: T | undefined
  size = 0

  append(member: T): void {
    member.previous = this.last
    if (this.last) this.last.next = member
    else this.first = member
    this.last = member
    this.size += 1
  }

  remove(member: T): void {
    if (member.previous) member.previous.next = member.next
    else this.first = member.next
    if (member.next) member.next.previous = member.previous
    else this.last = member.previous
    member.previous = undefined
    member.next = undefined
    this.size -= 1
  }
}
