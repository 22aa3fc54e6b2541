/** Arguments of scripts, declared in their heads. Written by `vitest run tests/repo/script-arguments.test.ts -u`. */

type ScriptText = string | Buffer
export type ScriptValue = string | Buffer | number

export interface ScriptArguments {
  'ack-messages-1': {
    base: ScriptText
    arn: ScriptText
    newestOnly: boolean
    handles: { uid: ScriptText; id: ScriptText; digest: ScriptText }[]
  }
  'add-stats-1': {
    base: ScriptText
    writer: ScriptText
    flush: number
    now: number
    counted: { kind: ScriptText; name: ScriptText; seats: number; minute: number; added: ScriptText }[]
  }
  'add-vault-key-1': { base: ScriptText; keyId: ScriptText }
  'append-audit-1': {
    base: ScriptText
    writer: ScriptText
    batch: number
    lines: { stream: ScriptText; linesMax: number; line: ScriptText }[]
  }
  'append-outcomes-1': {
    stream: ScriptText
    keptMax: number
    movedMs: number
    bundles: { entries: number; bundle: ScriptText }[]
  }
  'append-redriven-1': {
    base: ScriptText
    arn: ScriptText
    task: ScriptText
    fence: number
    batch: number
    items: ScriptValue[]
  }
  'ask-credential-1': { base: ScriptText; name: ScriptText; probeEveryMs: number; keptMs: number }
  'begin-travel-1': { travel: ScriptText; id: ScriptText; processes: ScriptText }
  'break-credential-1': {
    base: ScriptText
    name: ScriptText
    detail: ScriptText
    probeEveryMs: number
    keptMs: number
  }
  'cancel-bulk-1': { base: ScriptText; id: ScriptText }
  'catch-up-1': { base: ScriptText; knownMs: number | null; behindMsMax: number; aheadMs: number | null }
  'change-redrive-1': { base: ScriptText; id: ScriptText; what: ScriptText; rate: ScriptText }
  'change-visibility-1': {
    base: ScriptText
    arn: ScriptText
    newestOnly: boolean
    changes: { ms: number; uid: ScriptText; id: ScriptText; digest: ScriptText }[]
  }
  'choose-redriven-1': {
    base: ScriptText
    id: ScriptText
    fence: number
    itemsMax: number
    bytesMax: number
    lookedAtMax: number
    filterJson: ScriptText
  }
  'choose-resent-1': { base: ScriptText; id: ScriptText; fence: number; itemsMax: number; bytesMax: number }
  'claim-bulk-1': { base: ScriptText; leaseMs: number }
  'claim-endpoint-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    newHash: ScriptText
    rawId: ScriptText
    note: ScriptText
    newToken: ScriptText
    revision: ScriptText
  }
  'claim-key-1': { key: ScriptText; value: ScriptText; keptMs: number }
  'configure-slice-1': {
    base: ScriptText
    slice: ScriptText
    shard: number
    arn: ScriptText
    record: ScriptText
    version: ScriptText
    rate: ScriptText
    retention: ScriptText
    overrides: ScriptText
    revision: ScriptText
  }
  'count-cause-1': { base: ScriptText; cause: ScriptText }
  'count-due-1': { base: ScriptText; lanesMax: number }
  'count-login-1': { base: ScriptText; address: ScriptText; windowMs: number }
  'count-names-1': { base: ScriptText; account: ScriptText; prefixes: ScriptValue[] }
  'count-redrive-1': {
    base: ScriptText
    source: ScriptText
    fromScore: ScriptText
    fromId: ScriptText
    newest: ScriptText
    lookedAtMax: number
    filterJson: ScriptText
  }
  'create-api-key-1': {
    base: ScriptText
    id: ScriptText
    account: ScriptText
    record: ScriptText
    keysMax: number
  }
  'create-bulk-1': {
    base: ScriptText
    id: ScriptText
    record: ScriptText
    planner: ScriptText
    frees: boolean
    plansMax: number
    lifeMs: number
    objects: ScriptValue[]
  }
  'create-redrive-1': {
    base: ScriptText
    source: ScriptText
    id: ScriptText
    destination: ScriptText
    filter: ScriptText
    action: ScriptText
    canary: ScriptText
    edit: ScriptText
    edited: ScriptText
    item: ScriptText
    newest: ScriptText
    matched: number
    rate: ScriptText
    startedBy: ScriptText
  }
  'create-resend-1': {
    base: ScriptText
    topic: ScriptText
    source: ScriptText
    id: ScriptText
    counts: boolean
    filter: ScriptText
    since: number
    rate: ScriptText
    untilKept: number | null
    follows: boolean
  }
  'create-subscription-1': {
    base: ScriptText
    arn: ScriptText
    shard: number
    endpointHash: ScriptText
    note: ScriptText
    digits: ScriptText
    revision: ScriptText
    perSlice: number
    slicesMax: number
    shards: number
    open: ScriptText
    status: ScriptText
    rate: ScriptText
    maxInFlight: number
    hasDlq: ScriptText
    expires: ScriptText
    mode: ScriptText
    groupRates: ScriptText
    floor: number
    tokenHash: ScriptText
    validUntil: number | null
  }
  'delete-event-type-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    name: ScriptText
    revision: ScriptText
  }
  'delete-platform-app-1': { base: ScriptText; app: ScriptText }
  'delete-platform-endpoint-1': {
    base: ScriptText
    app: ScriptText
    id: ScriptText
    expected: ScriptText
    digest: ScriptText
  }
  'delete-queue-1': { base: ScriptText; arn: ScriptText; ownOf: ScriptText; onlyUid: ScriptText }
  'delete-subscription-1': {
    base: ScriptText
    arn: ScriptText
    shard: number
    uid: ScriptText
    sliceNumber: number
    note: ScriptText
    id: ScriptText
    rawId: ScriptText
    endpoint: ScriptText
    endpointHash: ScriptText
    tokenHash: ScriptText
    revision: ScriptText
    shards: number
  }
  'delete-topic-1': { base: ScriptText; arn: ScriptText; shard: number }
  'drop-attempts-1': { base: ScriptText; subscriptions: { subscription: ScriptText }[] }
  'drop-blocks-1': { base: ScriptText; arn: ScriptText; uid: ScriptText; blocksMax: number }
  'drop-queue-1': { base: ScriptText; uid: ScriptText; itemsMax: number }
  'drop-queue-lease-1': { base: ScriptText; arn: ScriptText; ends: number }
  'drop-slice-1': { base: ScriptText; slice: ScriptText; shard: number }
  'end-following-1': { base: ScriptText; id: ScriptText; fence: number; inMs: number }
  'end-process-1': { base: ScriptText; id: ScriptText }
  'end-queue-lease-1': { base: ScriptText; arn: ScriptText; ends: number }
  'end-session-1': { base: ScriptText; digest: ScriptText }
  'end-sessions-of-key-1': { base: ScriptText; keyId: ScriptText }
  'find-kept-1': { base: ScriptText; id: ScriptText; ringsMax: number }
  'find-key-1': { base: ScriptText; arn: ScriptText; key: ScriptText; value: ScriptText; keptMs: number }
  'find-queue-work-1': { base: ScriptText; after: ScriptText; queuesMax: number }
  'finish-create-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    sliceNumber: number
    note: ScriptText
    endpointHash: ScriptText
    rawId: ScriptText
    stored: boolean
    tokenHash: ScriptText
    revision: ScriptText
  }
  'finish-delete-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    sliceNumber: number
    note: ScriptText
    rawId: ScriptText
    endpointHash: ScriptText
    tokenHash: ScriptText
    revision: ScriptText
  }
  'finish-move-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    freeHash: ScriptText
    rawId: ScriptText
    note: ScriptText
    removeToken: ScriptText
    revision: ScriptText
  }
  'finish-redriven-1': {
    base: ScriptText
    id: ScriptText
    fence: number
    batch: number
    failure: ScriptText
    shards: ScriptText
    inLanes: number
    items: { item: ScriptText; isMoved: boolean }[]
  }
  'finish-topic-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    version: ScriptText
    revision: ScriptText
  }
  'give-back-messages-1': {
    base: ScriptText
    arn: ScriptText
    ms: number
    attempt: ScriptText
    taken: { id: ScriptText; digest: ScriptText }[]
  }
  'group-letters-1': {
    base: ScriptText
    arn: ScriptText
    fromScore: ScriptText
    fromId: ScriptText
    lookedAtMax: number
    hourMs: number
    samplesMax: number
    filterJson: ScriptText
  }
  'hold-lock-1': { job: ScriptText; start: number; addedAt: number; token: ScriptText; lockMs: number }
  'index-block-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    from: ScriptText
    to: ScriptText
    entry: ScriptText
    messages: number
    bytes: number
    lost: number
  }
  'keep-bodies-1': { base: ScriptText; arn: ScriptText; uid: ScriptText; bodies: ScriptValue[] }
  'keep-cursor-key-1': { base: ScriptText; offered: ScriptText }
  'keep-jobs-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    jobs: { record: ScriptText; name: ScriptText; addedAt: number; publishedAt: number; ids: ScriptText }[]
  }
  'keep-mail-key-1': { base: ScriptText; offered: ScriptText }
  'keep-messages-1': { base: ScriptText; arn: ScriptText; uid: ScriptText; entries: ScriptText }
  'keep-push-leases-1': {
    base: ScriptText
    batches: { arn: ScriptText; consumer: ScriptText; batch: ScriptText; renew: boolean }[]
  }
  'keep-signing-pair-1': { base: ScriptText; offered: ScriptText }
  'list-consuming-1': { base: ScriptText; after: ScriptText; queuesMax: number }
  'list-elapsed-1': { base: ScriptText; set: ScriptText; ageMs: number; membersMax: number }
  'list-ended-leases-1': { base: ScriptText; leasesMax: number }
  'list-processes-1': { base: ScriptText; silentMs: number }
  'list-slice-1': { base: ScriptText; slice: ScriptText; after: ScriptText; limit: number }
  'make-session-1': {
    base: ScriptText
    digest: ScriptText
    keyId: ScriptText
    customer: ScriptText
    record: ScriptText
    idleMs: number
    endsAt: number
    now: number
    customerMax: number
    keyMax: number
    sessionsMax: number
  }
  'move-log-1': {
    base: ScriptText
    shard: number
    uid: ScriptText
    arn: ScriptText
    group: ScriptText
    fence: number
    messagesMax: number
    bytesMax: number
    ending: ScriptText
    values: ScriptValue[]
  }
  'move-subscription-1': {
    base: ScriptText
    sliceId: ScriptText
    shard: number
    id: ScriptText
    expected: ScriptText
    record: ScriptText
    expires: ScriptText
    revision: ScriptText
    arn: ScriptText
    uid: ScriptText
    rawId: ScriptText
    oldHash: ScriptText
    newHash: ScriptText
    oldToken: ScriptText
    newToken: ScriptText
  }
  'move-time-1': { travel: ScriptText; targetMs: number; bases: ScriptValue[] }
  'note-attempts-1': {
    base: ScriptText
    lanes: {
      id: ScriptText
      attempts: number
      successes: number
      beganMs: number
      successMs: number
      failureMs: number
      code: ScriptText
      err: ScriptText
      inARow: number
      failingMs: number
    }[]
  }
  'note-creation-1': {
    base: ScriptText
    member: ScriptText
    id: ScriptText
    noteMs: number
    names: ScriptValue[]
  }
  'note-parts-1': { job: ScriptText; start: number; parts: ScriptText }
  'note-service-1': { base: ScriptText }
  'open-block-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    placesMax: number
    bytesMax: number
    ageMs: number
    smallBytes: number
    smallAgeMs: number
  }
  'open-bulk-1': {
    base: ScriptText
    id: ScriptText
    fence: ScriptText
    objectsMax: number
    leaseMs: number
    before: ScriptText
  }
  'open-checkpoint-1': { base: ScriptText; job: ScriptText; fence: number }
  'open-redrive-1': { base: ScriptText; id: ScriptText }
  'opt-out-number-1': { base: ScriptText; number: ScriptText; numbersMax: number }
  'page-kept-1': {
    base: ScriptText
    arn: ScriptText
    before: ScriptText
    messagesMax: number
    bytesMax: number
  }
  'park-deliveries-1': { base: ScriptText; shard: number; values: ScriptValue[] }
  'park-redriven-1': {
    base: ScriptText
    shard: number
    task: ScriptText
    fence: number
    batch: number
    values: ScriptValue[]
  }
  'peek-messages-1': {
    base: ScriptText
    arn: ScriptText
    fromScore: ScriptText
    fromId: ScriptText
    limit: number
    lookedAtMax: number
    filterJson: ScriptText
  }
  'place-subscription-1': {
    base: ScriptText
    slice: ScriptText
    shard: number
    id: ScriptText
    validUntil: number
    arn: ScriptText
    topicRecord: ScriptText
    topicVersion: ScriptText
    topicRate: ScriptText
    topicRetention: ScriptText
    topicOverrides: ScriptText
    revision: ScriptText
    open: ScriptText
    status: ScriptText
    rate: ScriptText
    maxInFlight: number
    hasDlq: ScriptText
    expires: ScriptText
    mode: ScriptText
    groupRates: ScriptText
    floor: number
  }
  'prune-redrives-1': { base: ScriptText; tasksMax: number }
  'publish-certificate-1': { base: ScriptText; name: ScriptText; certificate: ScriptText }
  'publish-fifo-1': {
    base: ScriptText
    arn: ScriptText
    shard: number
    idempotencyKey: ScriptText
    requestHash: ScriptText
    keptMs: number
    messages: { id: ScriptText; group: ScriptText; deduplication: ScriptText; body: ScriptText }[]
  }
  'purge-dead-letters-1': {
    base: ScriptText
    arn: ScriptText
    newest: ScriptText
    fromScore: ScriptText
    fromId: ScriptText
    lookedAtMax: number
    filterJson: ScriptText
  }
  'purge-lane-1': { base: ScriptText; id: ScriptText; deliveriesMax: number }
  'purge-page-1': {
    base: ScriptText
    id: ScriptText
    fence: number
    lookedAtMax: number
    filterJson: ScriptText
  }
  'purge-queue-1': { base: ScriptText; arn: ScriptText; before: ScriptText; itemsMax: number }
  'put-event-type-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    name: ScriptText
    expected: ScriptText
    record: ScriptText
    revision: ScriptText
    typesMax: number
    bytesMax: number
  }
  'put-platform-app-1': { base: ScriptText; app: ScriptText; expected: ScriptText; record: ScriptText }
  'put-platform-endpoint-1': {
    base: ScriptText
    app: ScriptText
    id: ScriptText
    expected: ScriptText
    record: ScriptText
    digest: ScriptText
    digestBefore: ScriptText
    endpointsMax: number
  }
  'put-quota-1': {
    base: ScriptText
    name: ScriptText
    expected: ScriptText
    record: ScriptText
    quotasMax: number
  }
  'put-topic-1': {
    base: ScriptText
    arn: ScriptText
    hidden: ScriptText
    shard: number
    expected: ScriptText
    record: ScriptText
    uid: ScriptText
    rate: ScriptText
    retention: ScriptText
    overrides: ScriptText
    kept: ScriptText
    watched: ScriptText
    revision: ScriptText
    validUntil: number | null
  }
  'quarantine-entry-1': {
    base: ScriptText
    id: ScriptText
    bytesMax: number
    messages: number
    values: ScriptValue[]
  }
  'read-archived-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    after: number
    last: number
    since: number
    before: number
    blocksMax: number
    placesMax: number
    bytesMax: number
  }
  'read-backlog-1': { queue: ScriptText }
  'read-dead-letter-counts-1': { base: ScriptText; arn: ScriptText }
  'read-delivery-states-1': { base: ScriptText; deliveries: { id: ScriptText; delivery: ScriptText }[] }
  'read-fifo-logs-1': { base: ScriptText; lookedAtMax: number }
  'read-kept-1': { base: ScriptText; arn: ScriptText; id: ScriptText; publishedAt: number }
  'read-lane-figures-1': { base: ScriptText; subscriptions: { id: ScriptText }[] }
  'read-message-1': { base: ScriptText; arn: ScriptText; id: ScriptText }
  'read-now-1': { base: ScriptText }
  'read-push-consumers-1': { base: ScriptText; arn: ScriptText }
  'read-queue-1': { base: ScriptText; arn: ScriptText }
  'read-slice-1': { base: ScriptText; slice: ScriptText }
  'read-work-1': { travel: ScriptText; names: ScriptValue[] }
  'receive-in-order-1': {
    base: ScriptText
    arn: ScriptText
    messagesMax: number
    visibilityMs: number | null
    inFlightMax: number
    proofs: ScriptText
    attempt: ScriptText
    isFirst: boolean
    pushConsumerText: ScriptText
  }
  'receive-messages-1': {
    base: ScriptText
    arn: ScriptText
    messagesMax: number
    visibilityMs: number | null
    inFlightMax: number
    digests: ScriptText
    pushConsumerText: ScriptText
  }
  'record-attempts-1': {
    base: ScriptText
    now: number
    bytesMax: number
    kept: number
    shares: { subscription: ScriptText; records: ScriptText }[]
  }
  'record-canary-1': { base: ScriptText; id: ScriptText; fence: number; reason: ScriptText }
  'record-resent-1': {
    base: ScriptText
    id: ScriptText
    fence: number
    from: number
    to: number
    messages: number
    done: boolean
  }
  'refund-spend-1': { base: ScriptText; day: ScriptText; month: ScriptText; cost: number }
  'release-address-1': { base: ScriptText; address: ScriptText }
  'release-dead-1': {
    base: ScriptText
    shard: number
    id: ScriptText
    deliveriesMax: number
    skipped: number
  }
  'release-lane-1': { base: ScriptText; shard: number; id: ScriptText }
  'release-quarantined-1': { base: ScriptText; id: ScriptText; messages: { message: ScriptText }[] }
  'remove-message-1': { base: ScriptText; arn: ScriptText; id: ScriptText }
  'remove-subscription-1': {
    base: ScriptText
    slice: ScriptText
    shard: number
    id: ScriptText
    revision: ScriptText
  }
  'renew-claims-1': { base: ScriptText; leaseMs: number; values: ScriptValue[] }
  'renew-queue-lease-1': { base: ScriptText; arn: ScriptText; leaseMs: number; onlyRenew: boolean }
  'renumber-redriven-1': { base: ScriptText; id: ScriptText; fence: number; batch: number; number: number }
  'replace-api-key-1': { base: ScriptText; id: ScriptText; expected: ScriptText; record: ScriptText }
  'replace-platform-endpoint-1': {
    base: ScriptText
    app: ScriptText
    id: ScriptText
    expected: ScriptText
    record: ScriptText
  }
  'replace-signing-pair-1': { base: ScriptText; expected: ScriptText; pair: ScriptText }
  'report-answers-1': {
    base: ScriptText
    shard: number
    results: { id: ScriptText; what: ScriptText; cost: number }[]
  }
  'report-process-1': {
    base: ScriptText
    id: ScriptText
    record: ScriptText
    silentMs: number
    processesMax: number
    known: ScriptText
    oldest: number
    newest: number
    effectAfterMs: number
    gapMsMax: number
    capabilities: ScriptValue[]
  }
  'reserve-spend-1': {
    base: ScriptText
    number: ScriptText
    day: ScriptText
    month: ScriptText
    cost: number
    dayMax: number
    monthMax: number
  }
  'restore-due-1': { base: ScriptText; shard: number; names: { name: ScriptText }[] }
  'retry-lane-now-1': {
    base: ScriptText
    shard: number
    id: ScriptText
    gap: number
    deliveriesMax: number
    reached: number | null
  }
  'revoke-api-key-1': { base: ScriptText; id: ScriptText }
  'scan-kept-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    below: number
    from: number
    placesMax: number
    bytesMax: number
  }
  'send-letter-1': {
    base: ScriptText
    arn: ScriptText
    topic: ScriptText
    record: ScriptText
    uid: ScriptText
    visibility: number
    retention: number
    bytesMax: number
    letter: ScriptValue[]
  }
  'send-messages-1': {
    base: ScriptText
    arn: ScriptText
    runsWhenFull: boolean
    isByBody: boolean
    items: ScriptValue[]
  }
  'set-aside-1': { base: ScriptText; shard: number; id: ScriptText; message: ScriptText }
  'settle-bulk-1': {
    base: ScriptText
    id: ScriptText
    fence: ScriptText
    count: number
    leaseMs: number
    keptMs: number
    failuresMax: number
    outcomes: { kind: ScriptText; value: ScriptText; n: number }[]
  }
  'settle-create-1': { base: ScriptText; slice: ScriptText; id: ScriptText }
  'settle-deliveries-1': { base: ScriptText; shard: number; values: ScriptValue[] }
  'settle-moves-1': {
    base: ScriptText
    arn: ScriptText
    forgets: boolean
    moves: { id: ScriptText; count: number }[]
  }
  'start-bulk-1': { base: ScriptText; id: ScriptText; undoes: ScriptText; runningMax: number; keptMs: number }
  'suppress-address-1': { base: ScriptText; address: ScriptText; about: ScriptText; addressesMax: number }
  'swap-log-1': {
    stream: ScriptText
    copy: ScriptText
    before: ScriptText
    last: ScriptText
    copied: number
    memoryMs: number
  }
  'sweep-lanes-1': {
    base: ScriptText
    shard: number
    index: ScriptText
    cursor: ScriptText
    deliveriesMax: number
    leaseMs: number
  }
  'sweep-queue-1': { base: ScriptText; arn: ScriptText; itemsMax: number; movesMax: number }
  'take-deliveries-1': {
    base: ScriptText
    lanesMax: number
    deliveriesMax: number
    leaseMs: number
    othersMax: number
    logsMax: number
    unprovenMax: number
    unprovenTill: number | null
    unprovenClaims: ScriptText
    tripMs: number
    leadMs: number
    bodyBytesMax: number
    laneLimits: { id: ScriptText; claimsMax: number }[]
  }
  'take-role-1': { role: ScriptText; forMs: number }
  'take-tokens-1': { base: ScriptText; id: ScriptText; rate: number; wanted: number }
  'touch-topic-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    revision: ScriptText
    rawId: ScriptText
    removeToken: ScriptText
    addToken: ScriptText
  }
  'trim-kept-1': {
    base: ScriptText
    arn: ScriptText
    uid: ScriptText
    bytesMax: number | null
    isShort: boolean
  }
  'trim-letters-1': { base: ScriptText; arn: ScriptText; bytesMax: number }
  'update-subscription-1': {
    base: ScriptText
    sliceId: ScriptText
    shard: number
    id: ScriptText
    expected: ScriptText
    record: ScriptText
    wasCounted: ScriptText
    counted: ScriptText
    rate: ScriptText
    maxInFlight: number
    paused: ScriptText
    hasDlq: ScriptText
    expires: ScriptText
    mode: ScriptText
    groupRates: ScriptText
    revision: ScriptText
    arn: ScriptText
    uid: ScriptText
    rawId: ScriptText
    oldToken: ScriptText
    newToken: ScriptText
    runsWhenFull: boolean
  }
  'write-barrier-1': { barrier: ScriptText }
  'write-push-consumer-1': {
    base: ScriptText
    arn: ScriptText
    name: ScriptText
    expected: ScriptText
    record: ScriptText
    pushConsumersMax: number
  }
  'write-queue-1': {
    base: ScriptText
    arn: ScriptText
    expected: ScriptText
    record: ScriptText
    uid: ScriptText
    visibilityMs: number
    retentionMs: number
    delayMs: number
    receivesMax: ScriptText
    target: ScriptText
    byContent: ScriptText
    groupScope: ScriptText
  }
}
