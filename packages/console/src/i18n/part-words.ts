/** Words of the parts that console and portal share, in English. The portal gives them in its own language. */
export const partWords = {
  loading: 'loading',
  retry: 'Try again',
  closeDialog: 'Close this dialog',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'The browser refused',
  never: 'never',
  failed: 'failed',
  noAnswer: 'No answer',
  noAnswerWhy: 'The API did not answer. The console asks again by itself.',
  request: (id: string) => `request ${id}`,
  bodyCut: (size: string) => `Only the first ${size} are shown.`,
}

export type PartWords = typeof partWords
