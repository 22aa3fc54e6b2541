/** Shapes that several operations share. `flat` has the names of the Query protocol. */
import type { MapShape } from '@fantail/aws-wire'

export const ATTRIBUTES: MapShape = {
  map: 'string',
  entry: { key: 'Name', value: 'Value' },
  flat: 'Attribute',
}

export const TAGS: MapShape = { map: 'string', entry: { key: 'Key', value: 'Value' }, flat: 'Tag' }
