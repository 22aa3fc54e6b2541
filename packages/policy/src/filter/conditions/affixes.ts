/**
 * Compares a text with many prefixes or suffixes at once. They form a tree, each edge of which is a piece of text. The
 * text is read once, while some prefix still agrees with it.
 */
interface Node {
  /** The part of a text that leads to this node. */
  label: string
  /** One of the texts ends here. */
  isEnd: boolean
  /** Edges by their first code unit. */
  edges: Map<number, Node>
}

export class Affixes {
  readonly #root: Node = { label: '', isEnd: false, edges: new Map() }
  readonly #fromEnd: boolean

  constructor(texts: readonly string[], { fromEnd }: { fromEnd: boolean }) {
    this.#fromEnd = fromEnd
    for (const text of texts) this.#add(text)
  }

  /** The text begins (or ends) with one of them. */
  holds(text: string): boolean {
    let node = this.#root
    let read = 0
    for (;;) {
      if (node.isEnd) return true
      if (read === text.length) return false
      const next = node.edges.get(this.#unit(text, read))
      if (!next) return false
      const { length } = next.label
      if (read + length > text.length) return false
      if (length > 1 && !text.startsWith(next.label, this.#fromEnd ? text.length - read - length : read))
        return false
      read += length
      node = next
    }
  }

  /** The nth that is read. */
  #unit(text: string, n: number): number {
    return text.charCodeAt(this.#fromEnd ? text.length - 1 - n : n)
  }

  #add(text: string): void {
    let node = this.#root
    let rest = text
    for (;;) {
      // The text begins with a shorter prefix already, so longer ones need not be stored.
      if (node.isEnd) return
      if (rest === '') break
      const next = node.edges.get(this.#unit(rest, 0))
      if (!next) {
        node.edges.set(this.#unit(rest, 0), { label: rest, isEnd: true, edges: new Map() })
        return
      }
      const common = this.#common(next.label, rest)
      if (common < next.label.length) this.#split(next, common)
      node = next
      rest = this.#behind(rest, common)
    }
    node.isEnd = true
    node.edges.clear()
  }

  #split(node: Node, at: number): void {
    const lower: Node = { label: this.#behind(node.label, at), isEnd: node.isEnd, edges: node.edges }
    node.label = this.#fromEnd ? node.label.slice(node.label.length - at) : node.label.slice(0, at)
    node.isEnd = false
    node.edges = new Map([[this.#unit(lower.label, 0), lower]])
  }

  #behind(text: string, read: number): string {
    return this.#fromEnd ? text.slice(0, text.length - read) : text.slice(read)
  }

  #common(a: string, b: string): number {
    const length = Math.min(a.length, b.length)
    for (let i = 0; i < length; i++) if (this.#unit(a, i) !== this.#unit(b, i)) return i
    return length
  }
}
