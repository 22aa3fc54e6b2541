import { fileURLToPath } from 'node:url'

/**
 * The folder in which Node keeps compiled code for all processes of a test run. It is in the checkout and not in the
 * temporary folder, because there another user of the machine could write code into it.
 */
export const COMPILED_CODE = fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url))
