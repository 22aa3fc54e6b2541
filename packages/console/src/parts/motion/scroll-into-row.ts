/** Scrolls the row around an item sidewards, so that the item stands in its middle. The page itself does not move. */
export function scrollIntoRow(item: Element | null | undefined): void {
  const row = item?.parentElement
  if (!item || !row) return
  const [own, other] = [row.getBoundingClientRect(), item.getBoundingClientRect()]
  row.scrollLeft += other.left - own.left - (own.width - other.width) / 2
}
