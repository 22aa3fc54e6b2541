export {
  type CompiledFilter,
  compileFilter,
  FilterCompiler,
  type FilterReason,
  matchesFilter,
  reasonOf,
} from './compiled-filter.ts'
export { type ClauseVerdict, explainFilter, VALUES_SHOWN_MAX } from './explain-filter.ts'
export { FilterPolicyError } from './filter-error.ts'
export { FilterIndex } from './filter-index.ts'
export { FilterRouter } from './filter-router.ts'
export {
  type FilterMessage,
  type FilterSubject,
  filterSubject,
  PARSED_BYTES_MAX,
  parsedBytes,
} from './filter-subject.ts'
export { inOneGo, MatchWork, type Steps, TooMuchWork } from './match-work.ts'
export { parseFilterPolicy } from './read-filter.ts'
