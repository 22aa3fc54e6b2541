// Generated from the OpenAPI document. Do not edit: `npm run generate` writes this file.

export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

export type Webhooks = ReceiveNotificationWebhookRequest | ReceiveConfirmationWebhookRequest | ReceiveNoticeWebhookRequest | ReceiveQueueBatchWebhookRequest;

/**
 * Which messages are done.
 */
export type AcknowledgeInput = {
    /**
     * Receipt handles of received messages, 1 to 100.
     */
    receiptHandles: Array<string>;
};

/**
 * A recorded attempt.
 */
export type Attempt = {
    /**
     * Id that publishing answered.
     */
    messageId: string;
    /**
     * How often the delivery had been brought back from a dead-letter queue before.
     */
    redrives: number;
    /**
     * Number of the attempt; 1 is the first, also after a redrive.
     */
    attempt: number;
    /**
     * Phase of the retry policy; `first` is the first attempt, which no phase delays.
     */
    phase: 'first' | 'immediate' | 'preBackoff' | 'backoff' | 'postBackoff';
    /**
     * first: straight from the job. lane: from the lane of its subscription.
     */
    path: 'first' | 'lane';
    /**
     * When it was due: the time of publishing, or as the attempt before decided. ISO 8601 in UTC. null if unknown.
     */
    dueAt: string | null;
    /**
     * When it began: ISO 8601 in UTC, with milliseconds.
     */
    startedAt: string;
    /**
     * Milliseconds that it took.
     */
    durationMs: number;
    /**
     * Why it was made at its time, such as a phase of the retry policy. null: nothing delayed it.
     */
    cause: DeliveryCause | null;
    /**
     * How long `cause` delayed it, in milliseconds. null: unknown, or nothing delayed it.
     */
    delayMs: number | null;
    /**
     * The wait after it was due. null if unknown.
     */
    waited: {
        /**
         * Milliseconds from the time at which the attempt was due to its start.
         */
        ms: number;
        /**
         * Why it waited: throttle, circuitOpen, unprovenEndpoint, groupOrder, or capacity (no free slot, or a pause). null: for no known cause.
         */
        cause: DeliveryCause | null;
    } | null;
    /**
     * HTTP status of the answer; null: none came.
     */
    statusCode: number | null;
    /**
     * Code of the failure without an answer; null: there was none.
     */
    error: string | null;
    /**
     * The failure in words; null: there was none.
     */
    detail: string | null;
    /**
     * Stage at which it failed without a whole answer; null: an answer came, or unknown.
     */
    stage: 'dns' | 'connect' | 'proxy' | 'tls' | 'answer' | 'body' | null;
    /**
     * Harmless headers of the answer, cut to 200 characters each. null: none were recorded.
     */
    responseHeaders: {
        [key: string]: string;
    } | null;
    /**
     * The first KiB of the answer’s body as text. null: not recorded, or withheld.
     */
    responseBody: string | null;
    /**
     * Decision about what follows.
     */
    next: {
        /**
         * Decision of the worker after the attempt, as in live events.
         */
        decision: 'delivered' | 'retry' | 'dead' | 'circuitOpen' | 'misconfigured' | 'gone';
        /**
         * When the next attempt is due: ISO 8601 in UTC. null: none follows.
         */
        at: string | null;
        /**
         * Cause of the time of what follows, or of the end.
         */
        cause: DeliveryCause | null;
    };
    /**
     * Earlier attempts of the subscription at this worker that were not recorded.
     */
    leftOut: number;
};

/**
 * Recorded attempts of a subscription.
 */
export type AttemptList = {
    /**
     * Which attempts of the topic are recorded now: `recordAttempts` of the topic.
     */
    recording: 'none' | 'failures' | 'all';
    /**
     * withheld: the key lacks the scope `bodies`, so every `responseBody` is null.
     */
    bodies: 'shown' | 'withheld';
    /**
     * Start of the oldest attempt that is kept of the subscription: ISO 8601 in UTC. null: none is kept.
     */
    keptSince: string | null;
    /**
     * The recorded attempts, newest first, at most 100.
     */
    attempts: Array<Attempt>;
};

/**
 * Requested changes, made or refused. The newest 10,000 are kept.
 */
export type AuditList = {
    /**
     * Lines of the audit log, newest first.
     */
    entries: Array<{
        /**
         * When the change was asked for: ISO 8601 in UTC, with milliseconds.
         */
        at: string;
        /**
         * Id of the key. `anonymous`: the caller showed no valid key. `command line`.
         */
        keyId: string;
        /**
         * Account of the key; null without a key.
         */
        account: string | null;
        /**
         * Address of the caller; null: the command line.
         */
        address: string | null;
        /**
         * Id of the portal session that acted with the key; null: the key itself.
         */
        portal: string | null;
        /**
         * The route, or the operation of an AWS protocol.
         */
        action: string;
        /**
         * Names, ids and ARNs in the path or the request. Never values of settings.
         */
        resource: {
            [key: string]: string;
        };
        /**
         * denied: the caller may not do it.
         */
        result: 'done' | 'denied' | 'failed';
        /**
         * HTTP status of the answer.
         */
        status: number;
        /**
         * Error code, if it was refused; else null.
         */
        code: string | null;
        /**
         * The request, as in its answer and in the log. Empty: none.
         */
        requestId: string;
        /**
         * Lines just before this one that its process could not write here. The log has them.
         */
        missed: number;
    }>;
    /**
     * Given as `cursor`, it leads on; null: nothing is left.
     */
    nextCursor: string | null;
    /**
     * How far back this page looked, ISO 8601 in UTC. null: there is no line.
     */
    scannedTo: string | null;
};

/**
 * Answer of a consumer with reportBatchItemFailures that could not work on all messages.
 */
export type BatchFailures = {
    /**
     * The messages that failed: they come back, the others are deleted.
     */
    batchItemFailures: Array<{
        /**
         * A `messageId` of the batch.
         */
        itemIdentifier: string;
    }>;
};

/**
 * Reports of mails that came back, as mail providers give them.
 */
export type Bounces = {
    /**
     * Reports, 1 to 1000; a repeated one changes nothing.
     */
    bounces: Array<{
        /**
         * The address that a mail went to.
         */
        address: string;
        /**
         * bounce: the mail came back. complaint: its reader called it unwanted. Default bounce.
         */
        type?: 'bounce' | 'complaint';
        /**
         * Status of the bounce, as RFC 3463 has it. Only 5.… is permanent. Default: permanent.
         */
        status?: string;
        /**
         * Words of the report. Default: none.
         */
        detail?: string;
    }>;
};

/**
 * The result of an import of bounces.
 */
export type BouncesResult = {
    /**
     * Addresses that are new on the suppression list.
     */
    suppressed: number;
    /**
     * Addresses that were on it.
     */
    present: number;
    /**
     * Reports that are not permanent: their addresses still get mail.
     */
    ignored: number;
};

/**
 * An action, and what to act on.
 */
export type BulkPlanInput = {
    /**
     * test: one attempt at each endpoint, outside its lane. retry: what waits for a retry is due now. pause, resume: as of one subscription. redrive: dead letters of the lanes go back to them. purge: what waits is discarded. erase: everything of the customer is deleted, see the description.
     */
    action: 'test' | 'retry' | 'pause' | 'resume' | 'redrive' | 'purge' | 'erase';
    /**
     * The lanes to act on. All conditions must hold.
     */
    select: {
        /**
         * Only these subscriptions, by id or ARN; at most 1000.
         */
        subscriptions?: Array<string>;
        /**
         * Only lanes to one of these hosts: `example.com` with all its ports, or `example.com:8443`.
         */
        hosts?: Array<string>;
        /**
         * Only lanes of this topic.
         */
        topic?: string;
        /**
         * Only lanes of topics whose names begin with this.
         */
        topicPrefix?: string;
        /**
         * Only lanes with this verdict now. inNeed: with a verdict that needs attention.
         */
        state?: 'inNeed' | 'gone' | 'paused' | 'pending' | 'misconfigured' | 'noToken' | 'dlqMissing' | 'endpointDisabled' | 'queueMissing' | 'queueRefuses' | 'quarantined' | 'circuitOpen' | 'failing' | 'hung' | 'groupBlocked' | 'tooSlowIn' | 'throttled' | 'undispatched' | 'catchingUp' | 'fine';
        /**
         * Only subscriptions with this status.
         */
        status?: 'pending' | 'active' | 'paused';
        /**
         * Only lanes whose endpoint, name, topic or subscription id contains this text.
         */
        q?: string;
        /**
         * Only subscriptions with this key and value in their metadata.
         */
        metadata?: {
            /**
             * The key that the metadata must have.
             */
            key: string;
            /**
             * The value that it must have under this key, exactly.
             */
            value: string;
        };
    };
    /**
     * retry: the most attempts a second for each lane. redrive: the most messages for each queue.
     */
    maxPerSecond?: number | null;
};

/**
 * The plan to carry out.
 */
export type BulkStartInput = {
    /**
     * The `id` that `planBulk` answered.
     */
    plan: string;
};

/**
 * A plan, or the task that carries it out.
 */
export type BulkTask = {
    /**
     * Id of the plan, and of the task that it becomes.
     */
    id: string;
    /**
     * The action on each object.
     */
    action: 'test' | 'retry' | 'pause' | 'resume' | 'redrive' | 'purge' | 'erase';
    /**
     * planned: nothing was changed yet. canceling: its present batch is ending.
     */
    status: 'planned' | 'running' | 'canceling' | 'canceled' | 'completed';
    /**
     * The plan in words, for people: `pause 405 lanes, 2,015 deliveries`.
     */
    words: string;
    /**
     * Numbers of what was found, by kind: lanes, deliveries that wait, dead letters, ….
     */
    counts: {
        [key: string]: number;
    };
    /**
     * The first objects, for people.
     */
    sample: Array<string>;
    /**
     * Selected objects that the task does not act on.
     */
    refused: {
        /**
         * Objects that the plan leaves out.
         */
        count: number;
        /**
         * The first 100 of them, each with the reason.
         */
        first: Array<{
            /**
             * Id of the subscription, or ARN of the topic or queue.
             */
            object: string;
            /**
             * Error code, as of a request about this object alone.
             */
            code: string;
            /**
             * The reason in words.
             */
            message: string;
        }>;
    };
    /**
     * Highest rate for each lane or queue; null: none.
     */
    maxPerSecond: number | null;
    /**
     * Steps of the task.
     */
    total: number;
    /**
     * Steps that have ended, failed ones included.
     */
    done: number;
    /**
     * Steps that have failed. `getBulkTask` lists the first 1,000.
     */
    failed: number;
    /**
     * Numbers of what was done so far, by kind: paused, unchanged, retried, discarded, ….
     */
    results: {
        [key: string]: number;
    };
    /**
     * The objects that failed. Lists of tasks leave it empty.
     */
    failures: Array<{
        /**
         * Id of the subscription, or ARN of the topic or queue.
         */
        object: string;
        /**
         * Error code, as of a request about this object alone.
         */
        code: string;
        /**
         * The reason in words.
         */
        message: string;
    }>;
    /**
     * Whether `undoBulkTask` can be called: it paused or resumed, has ended and is not undone.
     */
    canUndo: boolean;
    /**
     * Id of the task that this one undoes; null: none.
     */
    undoes: string | null;
    /**
     * Id of the task that undoes this one; null: none.
     */
    undoneBy: string | null;
    /**
     * When it was planned: ISO 8601 in UTC, with milliseconds.
     */
    plannedAt: string;
    /**
     * Start it before. null: it has started.
     */
    expiresAt: string | null;
    /**
     * When it began; null: it has not.
     */
    startedAt: string | null;
    /**
     * When it ended; null: it has not.
     */
    endedAt: string | null;
};

export type BulkTaskList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    tasks: Array<BulkTask>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * Proof that the endpoint got its confirmation request.
 */
export type ConfirmInput = {
    /**
     * The `Token` of the confirmation request that the endpoint got; good for 48 hours.
     */
    token: string;
};

/**
 * Asks an endpoint whether it wants to be subscribed, or whether it meant to unsubscribe.
 */
export type Confirmation = {
    /**
     * The question: whether to begin a subscription, or to restore one that a link has ended.
     */
    Type: 'SubscriptionConfirmation' | 'UnsubscribeConfirmation';
    /**
     * Id of the message, the same at every attempt: drop what you have seen.
     */
    MessageId: string;
    /**
     * ARN of the topic the message was published to.
     */
    TopicArn: string;
    /**
     * When it was published: ISO 8601 in UTC, with milliseconds.
     */
    Timestamp: string;
    /**
     * Proves the receipt: give it to `confirmSubscription` or follow SubscribeURL.
     */
    Token: string;
    /**
     * One sentence for people that says what SubscribeURL does.
     */
    Message: string;
    /**
     * A GET of this URL confirms, or restores, the subscription. Good for 48 hours.
     */
    SubscribeURL: string;
    /**
     * `1` (SHA-1) or `2` (SHA-256). Signed topics only, as the two members below.
     */
    SignatureVersion?: string;
    /**
     * Signature of the members as Amazon SNS makes it, in base64.
     */
    Signature?: string;
    /**
     * The address of the certificate that verifies the signature.
     */
    SigningCertURL?: string;
};

/**
 * A key that was just made, with its token. No other answer shows the token.
 */
export type CreatedKey = {
    /**
     * Id of the key, no secret: `FK` and 18 of `A-Z 2-7`. For kind aws the access key id.
     */
    id: string;
    /**
     * native: a bearer token for this API; aws: signs requests of the AWS protocols.
     */
    kind: 'native' | 'aws';
    /**
     * Name for people; it need not be unique.
     */
    name: string;
    /**
     * Account that the key acts for, 12 digits.
     */
    account: string;
    /**
     * Everything the key may do. publish: send; read: look; manage: create, change, delete, and what consume may; redrive: move dead letters, retry; consume: receive from queues; bodies: see the texts of messages without receiving them; sms: subscribe phone numbers and manage text messages, never for keys with prefixes.
     */
    scopes: Array<'publish' | 'read' | 'manage' | 'redrive' | 'consume' | 'sms' | 'bodies'>;
    /**
     * Beginnings of the names of topics and queues it is bound to; empty: all names.
     */
    prefixes: Array<string>;
    /**
     * Requests past this rate get 429; null: unlimited.
     */
    maxRequestsPerSecond: number | null;
    /**
     * Keys with a limit that made this key. Its requests count against their limits too.
     */
    limitedBy: Array<{
        /**
         * Id of a key that this one was made by, directly or not.
         */
        id: string;
        /**
         * Limit of the other key, against which requests of this key count.
         */
        maxRequestsPerSecond: number;
    }>;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
    /**
     * Only for kind native: the token, sent as `Authorization: Bearer …`. It is shown here only.
     */
    token?: string;
    /**
     * Only for kind aws: the access key id for AWS clients.
     */
    accessKeyId?: string;
    /**
     * Only for kind aws: the secret access key for AWS clients. It is shown here only.
     */
    secretAccessKey?: string;
};

/**
 * An endpoint that was just added. Every request to it is signed.
 */
export type CreatedPortalEndpoint = {
    /**
     * Id of the endpoint’s subscription, a UUID.
     */
    id: string;
    /**
     * Name of the topic whose messages it gets.
     */
    topic: string;
    /**
     * The address that its messages go to. Credentials in it are masked.
     */
    endpoint: string;
    /**
     * The address to which it moves once that address has confirmed; null: nowhere.
     */
    pendingEndpoint: string | null;
    /**
     * The name that it was given; null: none.
     */
    name: string | null;
    /**
     * pending: the endpoint must confirm first.
     */
    status: 'pending' | 'active' | 'paused';
    /**
     * failing: attempts fail, or nothing can be sent. working: all others, also before the first message.
     */
    state: 'working' | 'failing' | 'paused' | 'pending';
    /**
     * Event types that it gets, by names and patterns like `order.*`; null: all messages.
     */
    eventTypes: Array<string> | null;
    /**
     * The rate that the customer has set, in requests a second; null: none.
     */
    maxPerSecond: number | null;
    /**
     * The rate in force: the lower one of the customer’s and the service’s; null: unlimited.
     */
    perSecond: number | null;
    /**
     * Deliveries that wait for an attempt.
     */
    waiting: number;
    /**
     * Deliveries whose attempt is under way.
     */
    inFlight: number;
    /**
     * Its state, as in the verdict of a subscription. undispatched: messages wait in the service.
     */
    verdict: 'gone' | 'paused' | 'pending' | 'circuitOpen' | 'failing' | 'hung' | 'groupBlocked' | 'tooSlowIn' | 'throttled' | 'undispatched' | 'catchingUp' | 'fine';
    /**
     * HTTP status of the latest failure; null: there was none, or a success came after it.
     */
    lastStatusCode: number | null;
    /**
     * When the next attempt comes, ISO 8601 in UTC; null: none.
     */
    nextAttemptAt: string | null;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
    /**
     * The secret of its signatures, `whsec_…`. It is in this answer and in no other.
     */
    secret: string;
};

/**
 * A portal session that was just made from its link.
 */
export type CreatedPortalSession = {
    /**
     * Id of the session, no secret.
     */
    id: string;
    /**
     * read: see endpoints and their messages. manage: add, change, delete, pause, resume and test endpoints, make keys of signatures. redrive: send messages again. bodies: see texts of messages and answers of endpoints.
     */
    scopes: Array<'read' | 'manage' | 'redrive' | 'bodies'>;
    /**
     * Whether the session may add endpoints: with manage, and not for single subscriptions.
     */
    canAdd: boolean;
    /**
     * How the portal looks.
     */
    theme: {
        /**
         * Title of the portal; null: Fantail.
         */
        name: string | null;
        /**
         * A picture as a data URL; null: none.
         */
        logo: string | null;
        /**
         * A colour like `#0b6e75`; null: the usual one.
         */
        colour: string | null;
    };
    /**
     * When the session ends at the latest: ISO 8601 in UTC, with milliseconds.
     */
    endsAt: string;
    /**
     * Sent as `Authorization: Bearer fps_…`. Only this answer has it.
     */
    token: string;
};

/**
 * A signing key that was just made. No other answer shows its secret.
 */
export type CreatedWebhookKey = {
    /**
     * Id of the key: 16 hex digits. It does not show the secret.
     */
    id: string;
    /**
     * Kind of key: a shared secret (hmac-sha256) or a key pair (ed25519).
     */
    algorithm: 'hmac-sha256' | 'ed25519';
    /**
     * ed25519 only: the key that receivers verify with, `whpk_` and base64.
     */
    publicKey?: string;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
    /**
     * When a replaced key stops signing: ISO 8601 in UTC. null: the newest key, which has no end.
     */
    expiresAt: string | null;
    /**
     * hmac-sha256 only: what receivers verify with, `whsec_…`. It is shown here only.
     */
    secret?: string;
};

/**
 * Why and when a subscription’s delivery ended in this queue. Absent on all other messages.
 */
export type DeadLetter = {
    /**
     * permanent: no retry would help; retriesExhausted: the last retry failed; expired: too old; outcomeUnknown: the provider gave no answer and may have sent it; setAside: an operator set it aside.
     */
    reason: 'permanent' | 'retriesExhausted' | 'expired' | 'outcomeUnknown' | 'setAside';
    /**
     * HTTP status of the last attempt’s answer; null: it got none.
     */
    statusCode: number | null;
    /**
     * How the last attempt failed without an answer, as a code: `timeout`, `connection_refused`, …; null otherwise.
     */
    lastError: string | null;
    /**
     * Attempts made before it was dead-lettered.
     */
    attempts: number;
    /**
     * ARN of the subscription that it could not be delivered to.
     */
    subscriptionArn: string;
    /**
     * ARN of the topic it was published to.
     */
    topicArn: string;
    /**
     * Id that publishing the message answered, also where its body is raw and does not name it.
     */
    publishedMessageId: string;
    /**
     * When the message was published: ISO 8601 in UTC, with milliseconds.
     */
    publishedAt: string;
    /**
     * When it was put into the dead-letter queue: ISO 8601 in UTC, with milliseconds.
     */
    deadLetteredAt: string;
};

/**
 * How many dead letters a queue holds.
 */
export type DeadLetterCounts = {
    /**
     * Dead letters by why they ended: permanent, retriesExhausted, expired, outcomeUnknown, setAside.
     */
    byReason: {
        [key: string]: number;
    };
    /**
     * Dead letters by the last HTTP status; `none` where there was no answer.
     */
    byStatusCode: {
        [key: string]: number;
    };
    /**
     * Dead letters by the ARN of their subscription.
     */
    bySubscription: {
        [key: string]: number;
    };
    /**
     * Dead letters that match. This and what follows are absent without `groupBy` and filter.
     */
    matched?: number;
    /**
     * Messages that this answer has looked at, oldest first.
     */
    scanned?: number;
    /**
     * How far it has looked, by the age of messages. null: to the end of the queue.
     */
    scannedTo?: string | null;
    /**
     * Give it as `cursor` to continue; the counts then begin at 0. null: nothing is left.
     */
    nextCursor?: string | null;
    /**
     * The groups, largest first; only with `groupBy`.
     */
    groups?: Array<DeadLetterGroup>;
    /**
     * Number of smaller groups that are left out.
     */
    otherGroups?: number;
    /**
     * Matching dead letters by the hour of their death, the earliest first.
     */
    byHour?: Array<{
        /**
         * Beginning of the hour: ISO 8601 in UTC, with milliseconds.
         */
        at: string;
        /**
         * Dead letters that were dead-lettered in it.
         */
        count: number;
    }>;
};

/**
 * Dead letters with the same values.
 */
export type DeadLetterGroup = {
    /**
     * Why they ended, if grouped by it.
     */
    reason?: 'permanent' | 'retriesExhausted' | 'expired' | 'outcomeUnknown' | 'setAside';
    /**
     * The last HTTP status, if grouped by it; null: the last attempt got no answer.
     */
    statusCode?: number | null;
    /**
     * ARN of their subscription, if grouped by it.
     */
    subscription?: string;
    /**
     * Name of this subscription, or its endpoint if it has no name. null: it is gone, or the key must not see it.
     */
    subscriptionName?: string | null;
    /**
     * ARN of their topic, if grouped by it.
     */
    topic?: string;
    /**
     * Code of the last attempt’s failure, if grouped by it; null: it has none.
     */
    error?: string | null;
    /**
     * Beginning of the hour of their death, if grouped by it.
     */
    hour?: string;
    /**
     * Dead letters of this group.
     */
    count: number;
    /**
     * When the first of them was dead-lettered: ISO 8601 in UTC, with milliseconds.
     */
    oldestAt: string;
    /**
     * When the last of them was dead-lettered: ISO 8601 in UTC, with milliseconds.
     */
    newestAt: string;
    /**
     * Up to three of them, the oldest first.
     */
    samples: Array<{
        /**
         * Id of the letter in this queue. It differs from the id of the published message.
         */
        messageId: string;
        /**
         * Id that publishing the message answered.
         */
        publishedMessageId: string;
    }>;
};

/**
 * A part of a search of dead letters.
 */
export type DeadLetterSearch = {
    /**
     * Finds, queue by queue, the oldest first in each.
     */
    letters: Array<FoundDeadLetter>;
    /**
     * Messages that this answer has looked at.
     */
    scanned: number;
    /**
     * Give it as `cursor` to search on. null: the search looked at everything.
     */
    nextCursor: string | null;
    /**
     * Queues that the search looks into.
     */
    queues: number;
    /**
     * Queues among them that are searched to their end.
     */
    queuesDone: number;
};

/**
 * The fate of a message for one subscription.
 */
export type Delivery = {
    /**
     * Id of the subscription; null for one target, or where it is known no more.
     */
    subscriptionId: string | null;
    /**
     * Name of the subscription for people; null: it has none, or is not known any more.
     */
    subscriptionName: string | null;
    /**
     * Present endpoint of the subscription, without credentials, also where an earlier endpoint took the delivery; null if unknown, as after the subscription was deleted.
     */
    endpoint: string | null;
    /**
     * State of the delivery. Only waiting and inFlight deliveries continue by themselves.
     */
    state: 'delivered' | 'waiting' | 'inFlight' | 'deadLettered' | 'discarded' | 'expired' | 'quarantined' | 'filtered';
    /**
     * Attempts made so far; 0 before the first one.
     */
    attempts: number;
    /**
     * The first attempt and the retries of the policy in force; null without a subscription.
     */
    attemptsMax: number | null;
    /**
     * HTTP status of the last attempt’s answer; null if it got no answer.
     */
    lastStatusCode: number | null;
    /**
     * How the last attempt failed without an answer, as a code (`timeout`, `dns`, …), or what is wrong with a quarantined message. null otherwise.
     */
    lastError: string | null;
    /**
     * The next attempt comes no earlier: ISO 8601 in UTC. null if nothing is planned.
     */
    nextAttemptAt: string | null;
    /**
     * When the outcome log stored its end, soon after it: ISO 8601 in UTC. First attempts of a message at several endpoints may be stored together, when all have ended. null until it has ended, or if unknown.
     */
    endedAt: string | null;
    /**
     * How long `cause` made it wait, in milliseconds: from the end of the attempt before, or from publishing. null if unknown.
     */
    delayMs: number | null;
    /**
     * Why it waits, or ended; if delivered, why the last attempt came when it did. null if nothing delayed it.
     */
    cause: DeliveryCause | null;
    /**
     * Why it ended, or is in quarantine; null until then.
     */
    reason: string | null;
    /**
     * How often it was brought back from a dead-letter queue, since it was resent if it was.
     */
    redrives: number;
    /**
     * When it was last resent: ISO 8601 in UTC. null: never.
     */
    resentAt: string | null;
    /**
     * Its dead letter, which may be gone since. null: it is not dead-lettered, or nobody knows its queue any more.
     */
    deadLetter: {
        /**
         * ARN of the dead-letter queue.
         */
        queueArn: string;
        /**
         * Id of the letter in this queue.
         */
        messageId: string;
    } | null;
};

/**
 * `immediate`: The retry policy allows retries without delay (`numNoDelayRetries`). `preBackoff`: The retry policy first makes some retries with its shortest delay (`numMinDelayRetries`). `backoff`: The retry policy waits longer before each further retry. `postBackoff`: The retry policy makes its last retries with its longest delay (`numMaxDelayRetries`). `retryAfter`: The endpoint asked for more time with `Retry-After`. `retryNow`: An operator asked to retry now. `redrive`: A redrive brought the delivery back from a dead-letter queue. `resend`: An operator had the message sent again. `throttle`: The subscription has a throttle, which limits its requests per second. `serviceLimit`: A limit of Fantail itself kept the attempt back, such as that of text messages under way. Nothing was sent, and no attempt is counted. `circuitOpen`: The subscription’s circuit breaker is open, so Fantail sends only a probe from time to time. `retryQuota`: The subscription’s retry mode limits retries by a quota, and the quota is empty. `unprovenEndpoint`: The endpoint is new, or did not answer within a second. Its deliveries take turns with those of other such endpoints. `capacity`: The delivery is due, and no worker has had a free slot for it yet. `paused`: The subscription is paused. `gone`: The endpoint answered 410 (Gone), so Fantail paused the subscription. No attempt is counted. After a resume, one delivery is a probe for all others. `dlqMissing`: The delivery is dead, and its dead-letter queue does not exist. It waits for the queue. If the queue does not come, the delivery ends with `deadLetterQueueMissing`. `misconfigured`: Fantail itself is not configured correctly: a credential was refused or has expired, or a setting is missing. No attempt is counted. Fantail tries once a minute until the configuration works. `noToken`: The endpoint needs an access token, and the token server cannot be reached or refuses one. No attempt is counted. Fantail asks it once a minute. `groupOrder`: An earlier message of the same FIFO group still waits or is being sent. `isolated`: Several workers died or froze while they matched the message, so the message is matched alone. `leasesEnded`: Several workers died or froze while they handled the delivery, so it waits longer each time. `permanent`: The attempt failed in a way that no retry can change, such as a refusal by the endpoint. `retriesExhausted`: The last retry failed. `outcomeUnknown`: The provider got the whole request and gave no answer. It may have sent the message, so Fantail does not send the request again. `expired`: The message is older than its topic’s retention. `setAside`: An operator set the message aside, so that the others go on. `deadLetterQueueMissing`: The delivery was dead, and its dead-letter queue does not exist. A delivery of a native subscription waits for the queue first (`dlqMissing`). `deadLetterQueueDenied`: The policy of the dead-letter queue does not allow the topic to send. `deadLetterQuota`: The topic’s own dead-letter queue was full, so its oldest dead letters were removed. The dead letter of this delivery was among them. `unsubscribed`: The subscription was deleted. `purged`: An operator purged the waiting deliveries of the subscription. `filterPolicy`: The message does not match the subscription’s filter policy, or the event types that the subscription chooses. `eventTypes`: The event types that the subscription chooses do not include the message’s. `quarantined`: The delivery’s data cannot be decoded, and is in the quarantine. `reason` has the error. `quarantineDeleted`: An operator deleted the delivery’s entry in the quarantine. `unknown`: The delivery is no longer in its lane, and the outcome log has no entry of its end.
 */
export type DeliveryCause = 'immediate' | 'preBackoff' | 'backoff' | 'postBackoff' | 'retryAfter' | 'retryNow' | 'redrive' | 'resend' | 'throttle' | 'serviceLimit' | 'circuitOpen' | 'retryQuota' | 'unprovenEndpoint' | 'capacity' | 'paused' | 'gone' | 'dlqMissing' | 'misconfigured' | 'noToken' | 'groupOrder' | 'isolated' | 'leasesEnded' | 'permanent' | 'retriesExhausted' | 'outcomeUnknown' | 'expired' | 'setAside' | 'deadLetterQueueMissing' | 'deadLetterQueueDenied' | 'deadLetterQuota' | 'unsubscribed' | 'purged' | 'filterPolicy' | 'eventTypes' | 'quarantined' | 'quarantineDeleted' | 'unknown';

/**
 * An event of a message or delivery. It never has bodies, attributes or headers.
 */
export type DeliveryEvent = {
    /**
     * Kind of event; also the name of the event in the stream.
     */
    type: 'parked' | 'delivered' | 'deadLettered' | 'discarded' | 'expired' | 'published' | 'attempt' | 'redriven' | 'changed';
    /**
     * When it happened: ISO 8601 in UTC, with milliseconds.
     */
    at: string;
    /**
     * ARN of the topic; null: it is not known any more.
     */
    topicArn: string | null;
    /**
     * Published message, as `GET /v1/messages/{messageId}` names it.
     */
    messageId?: string;
    /**
     * Id of the subscription; null: it is about the whole message.
     */
    subscriptionId?: string | null;
    /**
     * Name of the subscription for people; null: it has none, or is not known any more.
     */
    subscriptionName?: string | null;
    /**
     * URL or ARN that is delivered to, without a password; null: there is no subscription.
     */
    endpoint?: string | null;
    /**
     * Attempts so far, this one included.
     */
    attempts?: number;
    /**
     * first: straight from the job. lane: from the lane of its subscription.
     */
    path?: 'first' | 'lane';
    /**
     * HTTP status of the last answer; null: none came.
     */
    statusCode?: number | null;
    /**
     * Code of the last failure without an answer; null: there was none.
     */
    error?: string | null;
    /**
     * Milliseconds that the attempt took.
     */
    durationMs?: number;
    /**
     * Decision of the worker after the attempt: retry, dead, or delivered, for lanes that make no attempts circuitOpen or misconfigured, and gone after a 410 that paused the subscription.
     */
    decision?: 'delivered' | 'retry' | 'dead' | 'circuitOpen' | 'misconfigured' | 'gone';
    /**
     * When the next attempt is due: ISO 8601 in UTC. null: none is planned.
     */
    nextAttemptAt?: string | null;
    /**
     * Cause of the time of what follows, or of the end; null: nothing delayed it.
     */
    cause?: 'immediate' | 'preBackoff' | 'backoff' | 'postBackoff' | 'retryAfter' | 'retryNow' | 'redrive' | 'resend' | 'throttle' | 'serviceLimit' | 'circuitOpen' | 'retryQuota' | 'unprovenEndpoint' | 'capacity' | 'paused' | 'gone' | 'dlqMissing' | 'misconfigured' | 'noToken' | 'groupOrder' | 'isolated' | 'leasesEnded' | 'permanent' | 'retriesExhausted' | 'outcomeUnknown' | 'expired' | 'setAside' | 'deadLetterQueueMissing' | 'deadLetterQueueDenied' | 'deadLetterQuota' | 'unsubscribed' | 'purged' | 'filterPolicy' | 'eventTypes' | 'quarantined' | 'quarantineDeleted' | 'unknown' | null;
    /**
     * Milliseconds that the cause delayed it; null: not known.
     */
    delayMs?: number | null;
    /**
     * Only of `redriven`: id of the message that an edited one replaces.
     */
    editedFrom?: string;
    /**
     * How often it was brought back from a dead-letter queue.
     */
    redrives?: number;
};

/**
 * The fate of a message, delivery by delivery.
 */
export type DeliveryList = {
    /**
     * One entry per subscription of the topic at dispatch; a redriven one shows its latest end.
     */
    deliveries: Array<Delivery>;
    /**
     * Whether the outcome log has the message. If false, its topic still keeps it (`keepMessages`), and nothing is known of the deliveries that publishing made.
     */
    logged: boolean;
};

/**
 * A delivery policy as Amazon SNS has it, and more. A group that is left out is taken from the topic, then from the system. All delays of one message together may be 14 days; deliveries end when the topic’s retention does.
 */
export type DeliveryPolicy = {
    /**
     * When failed deliveries are retried: immediate, pre-backoff, backoff and post-backoff retries, in this order. The default, 3 retries 20 s apart, fills members that are left out.
     */
    healthyRetryPolicy?: {
        /**
         * Delay in seconds of pre-backoff retries and of the first backoff retry.
         */
        minDelayTarget?: number;
        /**
         * Delay in seconds of the last backoff retry and of post-backoff retries; at least minDelayTarget.
         */
        maxDelayTarget?: number;
        /**
         * Retries over all four phases. Retries that belong to no other phase are backoff retries.
         */
        numRetries?: number;
        /**
         * Retries of the first phase, without any delay. Default 0.
         */
        numNoDelayRetries?: number;
        /**
         * Retries of the second phase, minDelayTarget apart (pre-backoff). Default 0.
         */
        numMinDelayRetries?: number;
        /**
         * Retries of the last phase, maxDelayTarget apart (post-backoff). Default 0.
         */
        numMaxDelayRetries?: number;
        /**
         * How delays rise from minDelayTarget to maxDelayTarget in the third phase. Default linear.
         */
        backoffFunction?: 'linear' | 'arithmetic' | 'geometric' | 'exponential';
        /**
         * Statuses that are retried, like 404, or classes of them, like `5xx`; no others are. Default `429` and `5xx`. An attempt without an answer is always retried.
         */
        retryOn?: Array<RetriedStatus>;
    };
    /**
     * Bounds the rate of attempts at one endpoint. Without it nothing is throttled.
     */
    throttlePolicy?: {
        /**
         * The most attempts per second, over all workers and with retries. A value below 1 means a pause, such as 5 s for 0.2. From 1 on it is a whole number.
         */
        maxReceivesPerSecond: number;
    };
    /**
     * How the request of a notification is made. Confirmations are `application/json`; over the AWS protocols `text/plain`.
     */
    requestPolicy?: {
        /**
         * Value of the `Content-Type` header of notifications; default `application/json` where the body is JSON, else, and over the AWS protocols always, `text/plain; charset=UTF-8`.
         */
        headerContentType: string;
    };
};

/**
 * A delivery policy that is to be set. It may name a preset, whose numbers are stored instead.
 */
export type DeliveryPolicyInput = {
    /**
     * When failed deliveries are retried: immediate, pre-backoff, backoff and post-backoff retries, in this order. The preset, or the default of 3 retries 20 s apart, fills members that are left out.
     */
    healthyRetryPolicy?: {
        /**
         * A named curve: `quick` (a minute), `steady` (an hour) or `patient` (a day). It sets the numbers. Other members replace them. POST /v1/delivery-policies/preview lists the presets.
         */
        preset?: string;
        /**
         * Delay in seconds of pre-backoff retries and of the first backoff retry.
         */
        minDelayTarget?: number;
        /**
         * Delay in seconds of the last backoff retry and of post-backoff retries; at least minDelayTarget.
         */
        maxDelayTarget?: number;
        /**
         * Retries over all four phases. Retries that belong to no other phase are backoff retries.
         */
        numRetries?: number;
        /**
         * Retries of the first phase, without any delay. Default 0.
         */
        numNoDelayRetries?: number;
        /**
         * Retries of the second phase, minDelayTarget apart (pre-backoff). Default 0.
         */
        numMinDelayRetries?: number;
        /**
         * Retries of the last phase, maxDelayTarget apart (post-backoff). Default 0.
         */
        numMaxDelayRetries?: number;
        /**
         * How delays rise from minDelayTarget to maxDelayTarget in the third phase. Default linear.
         */
        backoffFunction?: 'linear' | 'arithmetic' | 'geometric' | 'exponential';
        /**
         * Statuses that are retried, like 404, or classes of them, like `5xx`; no others are. Default `429` and `5xx`. An attempt without an answer is always retried.
         */
        retryOn?: Array<RetriedStatus>;
    };
    /**
     * Bounds the rate of attempts at one endpoint. Without it nothing is throttled.
     */
    throttlePolicy?: {
        /**
         * The most attempts per second, over all workers and with retries. A value below 1 means a pause, such as 5 s for 0.2. From 1 on it is a whole number.
         */
        maxReceivesPerSecond: number;
    };
    /**
     * How the request of a notification is made. Confirmations are `application/json`; over the AWS protocols `text/plain`.
     */
    requestPolicy?: {
        /**
         * Value of the `Content-Type` header of notifications; default `application/json` where the body is JSON, else, and over the AWS protocols always, `text/plain; charset=UTF-8`.
         */
        headerContentType: string;
    };
};

/**
 * A message for one phone number, device or browser.
 */
export type DirectMessageInput = {
    /**
     * The phone number that gets a text message: `+`, the country’s code and the number.
     */
    phoneNumber?: string;
    /**
     * ARN of the platform endpoint that gets a notification.
     */
    targetArn?: string;
    /**
     * The content for subscribers: text as it is, an object or array as its JSON text. With its attributes at most 262144 bytes; a topic may have a lower limit.
     */
    message: unknown;
    /**
     * A short line for people, in envelopes only: 1 to 99 characters without line breaks.
     */
    subject?: string;
    attributes?: MessageAttributes;
    /**
     * The message is a JSON object with a text per protocol (`http`, `https`, `sqs`, `lambda`, `firehose`, `email`, `email-json`, `sms`, `application`) and a `default`. A platform’s own text stands under its name, such as `GCM`.
     */
    structure?: 'json';
};

/**
 * A message to one target that is stored.
 */
export type DirectMessageReceipt = {
    /**
     * Id of the stored message, a UUIDv7.
     */
    messageId: string;
};

/**
 * A message to be sent again, with changes. Members that are left out stay as they are.
 */
export type EditInput = {
    /**
     * The new text: of the published message, or else of the body. Default: the text as it is.
     */
    message?: string;
    attributes?: MessageAttributes;
    /**
     * Queue to move it to, by its name or ARN. Default: back where it came from.
     */
    destination?: string | null;
};

/**
 * A single message is sent again.
 */
export type EditedRedrive = {
    /**
     * Id of the redrive that sends it: `GET /v1/redrives/{id}` shows how it ended.
     */
    id: string;
    /**
     * Id that receivers see. An edited message has a new one, so that nobody takes it for the old one.
     */
    messageId: string;
    /**
     * Id of the message that it replaces, which goes along with it. null: nothing was edited.
     */
    editedFrom: string | null;
    /**
     * SHA-256 of the text as it was, in hex. null: it is sealed, and its key is missing.
     */
    originalSha256: string | null;
    /**
     * SHA-256 of the text as it is sent, in hex. null likewise.
     */
    editedSha256: string | null;
};

/**
 * The policy in force: each group from the subscription, else from its topic, else from the system.
 */
export type EffectiveDeliveryPolicy = {
    /**
     * When failed deliveries are retried: immediate, pre-backoff, backoff and post-backoff retries, in this order.
     */
    healthyRetryPolicy: {
        /**
         * Delay in seconds of pre-backoff retries and of the first backoff retry.
         */
        minDelayTarget: number;
        /**
         * Delay in seconds of the last backoff retry and of post-backoff retries; at least minDelayTarget.
         */
        maxDelayTarget: number;
        /**
         * Retries over all phases. Queues have a fixed policy with more than 100.
         */
        numRetries: number;
        /**
         * Retries of the first phase, without any delay. Default 0.
         */
        numNoDelayRetries: number;
        /**
         * Retries of the second phase, minDelayTarget apart (pre-backoff). Default 0.
         */
        numMinDelayRetries: number;
        /**
         * Retries of the last phase, maxDelayTarget apart (post-backoff). Default 0.
         */
        numMaxDelayRetries: number;
        /**
         * How delays rise from minDelayTarget to maxDelayTarget in the third phase. Default linear.
         */
        backoffFunction: 'linear' | 'arithmetic' | 'geometric' | 'exponential';
        /**
         * Statuses that are retried, like 404, or classes of them, like `5xx`; no others are. Default `429` and `5xx`. An attempt without an answer is always retried.
         */
        retryOn?: Array<RetriedStatus>;
    };
    /**
     * The throttle in force; null: attempts are not throttled.
     */
    throttlePolicy: {
        /**
         * The most attempts per second, over all workers and with retries. A value below 1 means a pause, such as 5 s for 0.2. From 1 on it is a whole number.
         */
        maxReceivesPerSecond: number;
    } | null;
    /**
     * How the request of a notification is made.
     */
    requestPolicy: {
        /**
         * Content type of notifications. null: `application/json` if the body is JSON, else `text/plain; charset=UTF-8`. Subscriptions of the AWS protocols without one of their own, or of their topic, have `text/plain; charset=UTF-8`.
         */
        headerContentType: string | null;
    };
};

/**
 * Which endpoints this server could deliver to.
 */
export type EndpointCheck = {
    /**
     * Why each endpoint cannot be subscribed here, in the order of the request; null: it can.
     */
    problems: Array<string | null>;
};

/**
 * Endpoints to check.
 */
export type EndpointCheckInput = {
    /**
     * 1 to 100 endpoints.
     */
    endpoints: Array<{
        /**
         * An endpoint, as a new subscription would name it.
         */
        endpoint: string;
        /**
         * Must agree with the endpoint. Default: what the endpoint says.
         */
        protocol?: 'http' | 'https' | 'sqs' | 'lambda' | 'firehose' | 'email' | 'email-json' | 'sms' | 'application';
    }>;
};

/**
 * Every refusal and failure of the REST API has this one shape.
 */
export type Error = {
    /**
     * The reason for the refusal, for programs and for people.
     */
    error: {
        /**
         * The kind of failure, for programs. Codes stay; new ones may be added. Each has one status.
         */
        code: 'malformed_json' | 'validation_failed' | 'not_supported' | 'unauthorized' | 'forbidden' | 'quota_exceeded' | 'not_found' | 'method_not_allowed' | 'conflict' | 'subscription_exists' | 'redrive_active' | 'wrong_state' | 'idempotency_mismatch' | 'body_gone' | 'too_large' | 'unsupported_media_type' | 'rate_limited' | 'internal' | 'storage_unavailable' | 'storage_full' | 'key_unavailable';
        /**
         * The failure in words, for people. It may change with any release.
         */
        message: string;
        /**
         * Everything that is wrong with the input, one entry per problem.
         */
        details?: Array<{
            /**
             * The place in the request, with dots: `messages[3].subject`.
             */
            path: string;
            /**
             * The problem there, to be read after the path.
             */
            message: string;
        }>;
    };
    /**
     * The `X-Request-Id` of the request, or one made for it. The server’s log lines carry it.
     */
    requestId: string;
};

/**
 * A schema and messages that should fit it.
 */
export type EventSchemaCheck = {
    /**
     * Messages of this type, at most 10. Each must fit the newest schema. Default: none.
     */
    examples?: Array<unknown> | null;
    /**
     * JSON Schema of draft 2020-12 for the message. `$ref` leads to places in the same schema, and patterns have the syntax of RE2. `format` is not checked.
     */
    schema: {
        [key: string]: unknown;
    };
};

/**
 * Whether an event type may have the schema.
 */
export type EventSchemaCheckResult = {
    /**
     * The first problem. null: there is none.
     */
    problem: {
        /**
         * Its place in `schema` or `examples`.
         */
        path: string;
        /**
         * The reason for which an event type with this schema would be refused.
         */
        message: string;
    } | null;
};

/**
 * A type of messages, with its schema.
 */
export type EventType = {
    /**
     * Name of the event type.
     */
    name: string;
    /**
     * Its meaning for people; null: none is given.
     */
    description: string | null;
    /**
     * Whether publishers get a warning that the type will go.
     */
    deprecated: boolean;
    /**
     * Number of the newest schema; null: the type has none.
     */
    version: number | null;
    /**
     * When it was last changed: ISO 8601 in UTC, with milliseconds.
     */
    modifiedAt: string;
    /**
     * JSON Schema of draft 2020-12 for the message. `$ref` leads to places in the same schema, and patterns have the syntax of RE2. `format` is not checked. null: the type has none.
     */
    schema: {
        [key: string]: unknown;
    } | null;
    /**
     * Number of the schema shown; null: the type has none.
     */
    schemaVersion: number | null;
    /**
     * The versions of the schema, the oldest first.
     */
    versions: Array<{
        /**
         * Number of the version, rising.
         */
        version: number;
        /**
         * When it was made: ISO 8601 in UTC, with milliseconds.
         */
        createdAt: string;
    }>;
    /**
     * Messages of this type.
     */
    examples: Array<unknown>;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
};

/**
 * An OpenAPI 3.1 document with the catalogue as `webhooks`.
 */
export type EventTypeDocument = {
    [key: string]: unknown;
};

/**
 * An OpenAPI document whose webhooks are imported.
 */
export type EventTypeImport = {
    /**
     * An OpenAPI 3.1 document. Each entry of `webhooks` becomes an event type with the schema of its request’s JSON body. References must stay in the document; nothing is fetched.
     */
    document: {
        [key: string]: unknown;
    };
    /**
     * true: the answer says what would change, and nothing changes. Default false.
     */
    dryRun?: boolean;
};

/**
 * The effect of an import.
 */
export type EventTypeImportResult = {
    /**
     * Whether the changes were made.
     */
    applied: boolean;
    /**
     * One entry per webhook of the document. Other types of the topic stay as they are.
     */
    changes: Array<{
        /**
         * Name of the event type.
         */
        name: string;
        /**
         * create: the topic has no such type. none: it has the same one.
         */
        change: 'create' | 'update' | 'none';
        /**
         * The members that differ.
         */
        members: Array<'description' | 'schema' | 'examples' | 'deprecated'>;
    }>;
};

/**
 * Members of an event type. Those that are left out stay as they are; null resets one.
 */
export type EventTypeInput = {
    /**
     * For people: at most 2000 characters. Default: none.
     */
    description?: string | null;
    /**
     * JSON Schema of draft 2020-12 for the message. `$ref` leads to places in the same schema, and patterns have the syntax of RE2. `format` is not checked. At most 65536 bytes, nested at most 20 deep. A changed schema becomes a new version, and the newest 10 stay. null: removes all versions.
     */
    schema?: {
        [key: string]: unknown;
    } | null;
    /**
     * Messages of this type, at most 10. Each must fit the newest schema. Default: none.
     */
    examples?: Array<unknown> | null;
    /**
     * true: publishers get a warning that the type will go. Default false.
     */
    deprecated?: boolean | null;
};

/**
 * The catalogue of a topic.
 */
export type EventTypeList = {
    /**
     * All event types of the topic, sorted by name: at most 200.
     */
    eventTypes: Array<{
        /**
         * Name of the event type.
         */
        name: string;
        /**
         * Its meaning for people; null: none is given.
         */
        description: string | null;
        /**
         * Whether publishers get a warning that the type will go.
         */
        deprecated: boolean;
        /**
         * Number of the newest schema; null: the type has none.
         */
        version: number | null;
        /**
         * When it was last changed: ISO 8601 in UTC, with milliseconds.
         */
        modifiedAt: string;
    }>;
};

/**
 * The verdict of a filter policy on the latest messages of a topic.
 */
export type FilterReplay = {
    /**
     * Messages that the topic keeps now.
     */
    kept: number;
    /**
     * Messages on which the policy was tried, the latest first.
     */
    tried: number;
    /**
     * How many of them the subscription would get.
     */
    matched: number;
    /**
     * Why it looked no further. last: it tried as many as asked. ring: the topic keeps no more. time: it took too long.
     */
    ended: 'last' | 'ring' | 'time';
    /**
     * When the oldest tried message was published: ISO 8601 in UTC. null: none was tried.
     */
    oldestAt: string | null;
    /**
     * Messages that cannot be decoded. They were not tried.
     */
    unreadable: number;
    /**
     * One entry per clause of the policy, branches of `$or` included. The clause of the event types comes first.
     */
    clauses: Array<{
        /**
         * The key, with the keys around it before it: `order.color`.
         */
        path: string;
        /**
         * The alternatives of this clause, as the policy has them.
         */
        condition: Array<unknown>;
        /**
         * Messages that do not satisfy this clause, judged by itself.
         */
        refused: number;
    }>;
};

/**
 * A filter policy to be tried on the latest messages of a topic.
 */
export type FilterReplayInput = {
    /**
     * Topic whose kept messages are tried, by its name or ARN.
     */
    topic: string;
    /**
     * The policy to try, in SNS’s filter language: per key a list of alternatives. Default: none.
     */
    filterPolicy?: {
        [key: string]: unknown;
    };
    /**
     * Whether the filter looks at attributes or at the message as JSON. Default MessageAttributes.
     */
    filterPolicyScope?: 'MessageAttributes' | 'MessageBody';
    /**
     * Names and patterns of event types to try, in addition to the policy. Default: none.
     */
    eventTypes?: Array<string>;
    /**
     * The protocol whose text counts, if the message has one per protocol. Default http.
     */
    protocol?: 'http' | 'https' | 'sqs' | 'lambda' | 'firehose' | 'email' | 'email-json' | 'sms' | 'application';
    /**
     * How many of the latest kept messages to try: 1 to 10000.
     */
    last: number;
};

/**
 * The verdict of a filter policy on a message, clause by clause.
 */
export type FilterTest = {
    /**
     * Whether the subscription would get the message.
     */
    matched: boolean;
    /**
     * Under which SNS would count the message as filtered out; null where it matched.
     */
    reason: 'MessageAttributes' | 'MessageBody' | 'InvalidAttributes' | 'NoMessageAttributes' | 'InvalidMessageBody' | null;
    /**
     * One entry per clause of the policy, branches of `$or` included. The clause of the event types comes first.
     */
    clauses: Array<{
        /**
         * The key, with the keys around it before it: `order.color`.
         */
        path: string;
        /**
         * The alternatives of this clause, as the policy has them.
         */
        condition: Array<unknown>;
        /**
         * Whether the message satisfies this clause, judged by itself.
         */
        matched: boolean;
        /**
         * The value that satisfies the clause, else what the message has there; several as a list. Absent: nothing.
         */
        value?: unknown;
    }>;
};

/**
 * A filter policy and a message to try it on.
 */
export type FilterTestInput = {
    /**
     * The policy to try, in SNS’s filter language: per key a list of alternatives. Default: none.
     */
    filterPolicy?: {
        [key: string]: unknown;
    };
    /**
     * Whether the filter looks at attributes or at the message as JSON. Default MessageAttributes.
     */
    filterPolicyScope?: 'MessageAttributes' | 'MessageBody';
    /**
     * Names and patterns of event types to try, in addition to the policy. Default: none.
     */
    eventTypes?: Array<string>;
    /**
     * The message to judge, as it would be published.
     */
    message: MessageInput;
    /**
     * The protocol whose text counts, if the message has one per protocol. Default http.
     */
    protocol?: 'http' | 'https' | 'sqs' | 'lambda' | 'firehose' | 'email' | 'email-json' | 'sms' | 'application';
};

/**
 * A dead letter that a search found.
 */
export type FoundDeadLetter = {
    /**
     * ARN of the queue that has it.
     */
    queueArn: string;
    /**
     * Id of the letter in this queue.
     */
    messageId: string;
    /**
     * Id that publishing the message answered. null: a queue has moved it.
     */
    publishedMessageId: string | null;
    /**
     * ARN of the topic that the message was published to. null: a queue has moved it.
     */
    topicArn: string | null;
    /**
     * ARN of the subscription that it could not be delivered to. null: a queue has moved it.
     */
    subscriptionArn: string | null;
    /**
     * ARN of the queue that has moved it after `maxReceiveCount` receives. null: none has.
     */
    sourceQueueArn: string | null;
    /**
     * Why it was dead-lettered. maxReceiveCount: a queue has moved it.
     */
    reason: 'permanent' | 'retriesExhausted' | 'expired' | 'outcomeUnknown' | 'setAside' | 'maxReceiveCount';
    /**
     * HTTP status of the last attempt’s answer; null: it got none.
     */
    statusCode: number | null;
    /**
     * How the last attempt failed without an answer, as a code; null otherwise.
     */
    lastError: string | null;
    /**
     * When it was put into the dead-letter queue: ISO 8601 in UTC. null: a queue has moved it.
     */
    deadLetteredAt: string | null;
    /**
     * Its attribute `eventType`. null: it has none, or it is not shown.
     */
    eventType: string | null;
    /**
     * One line of what it says, at most 120 characters, with invisible characters as escapes. null: it is not stored or not shown, or the key lacks the scope `bodies`.
     */
    line: string | null;
    /**
     * Part of the message in which the text was found; `line` is from there. null: no text was searched.
     */
    foundIn: 'message' | 'subject' | 'attributes' | null;
};

/**
 * A kept message that a search found.
 */
export type FoundKeptMessage = {
    /**
     * Id of the message, as publishing answered it.
     */
    messageId: string;
    /**
     * ARN of the topic that it was published to.
     */
    topicArn: string;
    /**
     * When it was published: ISO 8601 in UTC, with milliseconds.
     */
    publishedAt: string;
    /**
     * Bytes of its text and attributes together.
     */
    sizeBytes: number;
    /**
     * Its attribute `eventType`. null: it has none, or it is not shown.
     */
    eventType: string | null;
    /**
     * One line of what it says, at most 120 characters, with invisible characters as escapes. null: it is not stored or not shown, or the key lacks the scope `bodies`.
     */
    line: string | null;
    /**
     * Part of the message in which the text was found; `line` is from there. null: no text was searched.
     */
    foundIn: 'message' | 'subject' | 'attributes' | null;
};

/**
 * Something with a name.
 */
export type FoundName = {
    /**
     * Kind of the thing with this name.
     */
    kind: 'topic' | 'subscription' | 'queue' | 'key';
    /**
     * Name of a topic or queue, or id of a subscription or key, as paths take it.
     */
    id: string;
    /**
     * Its name for people. null: a subscription or key without one.
     */
    name: string | null;
    /**
     * Its ARN. null: a key.
     */
    arn: string | null;
    /**
     * Name of a subscription’s topic; null for everything else.
     */
    topic: string | null;
    /**
     * Host or domain of a subscription’s endpoint, or its protocol; null for everything else.
     */
    host: string | null;
};

/**
 * The things whose names have all words.
 */
export type FoundNames = {
    /**
     * Names in which all words are, the best first.
     */
    found: Array<FoundName>;
    /**
     * How many match in all.
     */
    matched: number;
    /**
     * false: there are more topics, subscriptions or queues than the search looks at.
     */
    complete: boolean;
};

export type HandleResults = {
    /**
     * One result per handle, in the order of the request.
     */
    results: Array<{
        /**
         * true: it was done, or the message was gone already. false: nothing was changed for this handle.
         */
        ok: boolean;
        /**
         * Only where `ok` is false. `invalid_receipt_handle`: of another queue or made up; `expired_receipt_handle`: FIFO, its time is over; `message_not_available`: not in flight; `visibility_limit_exceeded`: past 12 hours.
         */
        error?: string;
    }>;
};

/**
 * Says that the process answers requests.
 */
export type Health = {
    /**
     * Always `ok`, because a process that is down gives no answer.
     */
    status: 'ok';
};

/**
 * A part of a search of kept messages.
 */
export type KeptSearch = {
    /**
     * Finds, the newest first within a topic, and by spans of time over several topics.
     */
    messages: Array<FoundKeptMessage>;
    /**
     * Messages that this answer has looked at.
     */
    scanned: number;
    /**
     * Give it as `cursor` to search on. null: the search looked at everything.
     */
    nextCursor: string | null;
    /**
     * Bytes of these messages as they are stored.
     */
    scannedBytes: number;
    /**
     * Messages among them that cannot be decoded.
     */
    unreadable: number;
    /**
     * Bytes that the searched topics keep in all.
     */
    keptBytes: number;
    /**
     * Everything that was kept since this time is searched: ISO 8601 in UTC. null: everything is.
     */
    scannedTo: string | null;
};

/**
 * An API key without its token.
 */
export type Key = {
    /**
     * Id of the key, no secret: `FK` and 18 of `A-Z 2-7`. For kind aws the access key id.
     */
    id: string;
    /**
     * native: a bearer token for this API; aws: signs requests of the AWS protocols.
     */
    kind: 'native' | 'aws';
    /**
     * Name for people; it need not be unique.
     */
    name: string;
    /**
     * Account that the key acts for, 12 digits.
     */
    account: string;
    /**
     * Everything the key may do. publish: send; read: look; manage: create, change, delete, and what consume may; redrive: move dead letters, retry; consume: receive from queues; bodies: see the texts of messages without receiving them; sms: subscribe phone numbers and manage text messages, never for keys with prefixes.
     */
    scopes: Array<'publish' | 'read' | 'manage' | 'redrive' | 'consume' | 'sms' | 'bodies'>;
    /**
     * Beginnings of the names of topics and queues it is bound to; empty: all names.
     */
    prefixes: Array<string>;
    /**
     * Requests past this rate get 429; null: unlimited.
     */
    maxRequestsPerSecond: number | null;
    /**
     * Keys with a limit that made this key. Its requests count against their limits too.
     */
    limitedBy: Array<{
        /**
         * Id of a key that this one was made by, directly or not.
         */
        id: string;
        /**
         * Limit of the other key, against which requests of this key count.
         */
        maxRequestsPerSecond: number;
    }>;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
};

export type KeyList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    keys: Array<Key>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * A lane: what waits for a subscription, and why.
 */
export type Lane = {
    /**
     * Id of the subscription whose lane it is.
     */
    subscriptionId: string;
    /**
     * ARN of the topic whose messages it gets.
     */
    topicArn: string;
    /**
     * URL or ARN that is delivered to; a password in it is masked.
     */
    endpoint: string;
    /**
     * How it is delivered to.
     */
    protocol: 'http' | 'https' | 'sqs' | 'lambda' | 'firehose' | 'email' | 'email-json' | 'sms' | 'application';
    /**
     * Name of the subscription for people; null: none.
     */
    name: string | null;
    /**
     * pending: waits for its confirmation; active: gets messages; paused: messages are kept for it.
     */
    status: 'pending' | 'active' | 'paused';
    /**
     * The state of the deliveries of this subscription now.
     */
    lane: {
        /**
         * Deliveries that wait for an attempt.
         */
        waiting: number;
        /**
         * Deliveries whose attempt is under way.
         */
        inFlight: number;
        /**
         * Seconds since the oldest waiting message was published; null: nothing waits.
         */
        oldestWaitingSeconds: number | null;
        /**
         * When the next attempt comes at the earliest: ISO 8601 in UTC. null: none is planned.
         */
        nextAttemptAt: string | null;
        /**
         * Seconds until what waits is delivered, if nothing is added: waiting × attempts per success ÷ attempts per second, both observed in the last minute. null: `drainUnknown` says why.
         */
        drainSeconds: number | null;
        /**
         * Seconds until what waits is delivered or given up, if as many attempts fail as in the last minute. An upper estimate. null: nothing was attempted, or the subscription is paused.
         */
        drainSecondsAtFailureRate: number | null;
        /**
         * Why `drainSeconds` is null. paused: the subscription is paused. nothingAttempted: no attempt ended in the last minute. nothingSucceeds: none of them succeeded, or the endpoint has begun to fail. It has if the last failure is more than 5 s later than the last success, and more than three requests of a throttle. null: it is known.
         */
        drainUnknown: 'paused' | 'nothingAttempted' | 'nothingSucceeds' | null;
        /**
         * Attempts per second, the lower of the throttle and the adaptive rate; null without both.
         */
        rate: number | null;
        /**
         * The last failed attempt. If `lastSuccessAt` is later, the trouble is over. null: none has failed.
         */
        lastFailure: {
            /**
             * When that attempt ended: ISO 8601 in UTC.
             */
            at: string;
            /**
             * HTTP status of the answer; null: there was none.
             */
            statusCode: number | null;
            /**
             * How it failed without an answer, as a code: `timeout`, `connection_refused`, …; null: there was one.
             */
            error: string | null;
        } | null;
        /**
         * When the endpoint last accepted a delivery, at most a few seconds behind: ISO 8601 in UTC. null: it never has.
         */
        lastSuccessAt: string | null;
        /**
         * Rest of the retry quota, which is 500 when full; null where retryMode is policy.
         */
        retryQuota: number | null;
        /**
         * open: attempts are stopped but for probes. null without a circuit breaker.
         */
        circuit: 'closed' | 'open' | null;
        /**
         * dlqMissing: dead deliveries wait because the dead-letter queue does not exist. misconfigured: the service’s own configuration keeps its attempts from the endpoint, or it lacks the key of sealed messages. noToken: its token server cannot be reached or refuses a token. null: neither.
         */
        waitsFor: 'dlqMissing' | 'misconfigured' | 'noToken' | null;
        /**
         * When the open circuit, or a broken credential, is probed next: ISO 8601 in UTC. null: no probe is due.
         */
        nextProbeAt: string | null;
    };
    verdict: Verdict;
};

/**
 * The lanes of one host together.
 */
export type LaneHost = {
    /**
     * Host and port of the URLs, domain of the mail addresses, or the protocol where neither is there.
     */
    host: string;
    /**
     * How many of the lanes that match the filters lead there.
     */
    lanes: number;
    /**
     * How many of them have a verdict that needs attention.
     */
    inNeed: number;
    /**
     * Deliveries that wait for an attempt.
     */
    waiting: number;
    /**
     * Deliveries whose attempt is under way.
     */
    inFlight: number;
    /**
     * Seconds since the oldest waiting message was published; null: nothing waits.
     */
    oldestWaitingSeconds: number | null;
    /**
     * Id of the subscription whose lane is the worst.
     */
    subscriptionId: string;
    /**
     * Verdict on the worst of its lanes.
     */
    verdict: Verdict;
};

/**
 * A page of lanes or hosts, worst first, and sums over all pages.
 */
export type LaneList = {
    /**
     * The lanes of this page; empty if they are grouped.
     */
    lanes: Array<Lane>;
    /**
     * The hosts of this page; null: lanes are not grouped.
     */
    hosts: Array<LaneHost> | null;
    /**
     * Give it as `cursor` to read the next page. Lanes may change places between pages. null: the last page.
     */
    nextCursor: string | null;
    /**
     * When the lanes were read: ISO 8601 in UTC, with milliseconds.
     */
    at: string;
    /**
     * false: more lanes are busy than one list looks at, and the figures leave some out.
     */
    complete: boolean;
    /**
     * Lanes that were looked at and that the caller may see, before any filter.
     */
    looked: number;
    /**
     * Lanes that the filters match, on all pages.
     */
    matched: number;
    /**
     * How many of the lanes looked at have which verdict. A verdict that is missing has no lane.
     */
    verdicts: {
        [key: string]: number;
    };
    /**
     * Deliveries that wait in the lanes that match.
     */
    waiting: number;
    /**
     * Deliveries in flight from the lanes that match.
     */
    inFlight: number;
};

export type LanePurgeResult = {
    /**
     * Deliveries that waited and were discarded.
     */
    discarded: number;
};

/**
 * The key that a session of the console acts with.
 */
export type Login = {
    /**
     * The token of a native API key: `ft_…`.
     */
    key: string;
};

/**
 * The fate of a message, in numbers.
 */
export type Message = {
    /**
     * Id of the message, as publishing answered it.
     */
    messageId: string;
    /**
     * ARN of the topic it was published to; null if it was published to one target.
     */
    topicArn: string | null;
    /**
     * The phone number, or ARN of the platform endpoint, it was published to; else null.
     */
    target: string | null;
    /**
     * When it was published: ISO 8601 in UTC, with milliseconds.
     */
    publishedAt: string;
    /**
     * Bytes of the message’s text and attributes together.
     */
    sizeBytes: number;
    /**
     * How many of its deliveries are in each state.
     */
    counts: {
        /**
         * Deliveries that their endpoint accepted.
         */
        delivered: number;
        /**
         * Deliveries that wait for an attempt or are in flight.
         */
        waiting: number;
        /**
         * Deliveries that ended in a dead-letter queue.
         */
        deadLettered: number;
        /**
         * Deliveries that ended in no queue: purged, unsubscribed, or failed without a dead-letter queue.
         */
        discarded: number;
        /**
         * Deliveries that ended because the message got too old.
         */
        expired: number;
        /**
         * Deliveries that cannot be decoded and wait for an operator.
         */
        quarantined: number;
        /**
         * Subscriptions whose filter policy kept the message back.
         */
        filtered: number;
    };
    /**
     * Whether the outcome log has the message. If false, its topic still keeps it (`keepMessages`), and nothing is known of the deliveries that publishing made.
     */
    logged: boolean;
};

/**
 * Text is a String, a number a Number, and an array of texts a String.Array.
 */
export type MessageAttribute = string | number | Array<string> | TypedAttribute;

/**
 * Attributes by name (1 to 256 of `A-Z a-z 0-9 _ - .`). Names of SNS that begin with `AWS.SNS.SMS.` or `AWS.SNS.MOBILE.` set options of text messages and mobile push; other names must not begin with `AWS.` or `Amazon.`.
 */
export type MessageAttributes = {
    [key: string]: MessageAttribute;
};

/**
 * Several messages for one topic.
 */
export type MessageBatchInput = {
    /**
     * 1 to 100 messages, stored in this order, all or none.
     */
    messages: Array<MessageInput>;
};

/**
 * A message as it is stored.
 */
export type MessageBody = {
    /**
     * Id of the message, as publishing answered it.
     */
    messageId: string;
    /**
     * The id that subscribers see, if it is another one.
     */
    sourceId?: string;
    /**
     * ARN of the topic it was published to.
     */
    topicArn: string;
    /**
     * When it was published: ISO 8601 in UTC, with milliseconds.
     */
    publishedAt: string;
    /**
     * The text, as it was published.
     */
    message: string;
    /**
     * json: the text is an object with a text for each protocol. Absent: one text for all.
     */
    structure?: 'json';
    /**
     * The subject, if it has one.
     */
    subject?: string;
    /**
     * Attributes of the message by name; empty where it has none.
     */
    attributes: {
        [key: string]: {
            /**
             * `String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.
             */
            type: string;
            /**
             * The value as text; base64 where the type is Binary.
             */
            value: string;
        };
    };
    /**
     * Message group that it was published with, if any.
     */
    groupId?: string;
    /**
     * FIFO only: the deduplication id in force.
     */
    deduplicationId?: string;
    /**
     * FIFO only: 20 digits, rising with every message.
     */
    sequenceNumber?: string;
    /**
     * The place where it was found: in the ring of kept messages, in a lane where a delivery waits, or in a dead-letter queue.
     */
    from: 'kept' | 'waiting' | 'deadLetter';
};

/**
 * One message of a publish.
 */
export type MessageInput = {
    /**
     * The content for subscribers: text as it is, an object or array as its JSON text. With its attributes at most 262144 bytes; a topic may have a lower limit.
     */
    message: unknown;
    /**
     * A short line for people, in envelopes only: 1 to 99 characters without line breaks.
     */
    subject?: string;
    attributes?: MessageAttributes;
    /**
     * The type of the message, like `order.paid`. It becomes the attribute `eventType`, by which subscriptions choose types.
     */
    eventType?: string;
    /**
     * The version of the type’s schema that the message follows. It becomes the attribute `eventTypeVersion`. Default: the newest.
     */
    eventTypeVersion?: number;
    /**
     * The message is a JSON object with a text per protocol (`http`, `https`, `sqs`, `lambda`, `firehose`, `email`, `email-json`, `sms`, `application`) and a `default`. A platform’s own text stands under its name, such as `GCM`.
     */
    structure?: 'json';
    /**
     * Needed on FIFO topics, which keep order within it; others pass it on to queues, which share consumers by it. 1 to 128 visible ASCII characters.
     */
    groupId?: string;
    /**
     * FIFO topics only: the same id within 5 minutes is one message. Needed without contentBasedDeduplication.
     */
    deduplicationId?: string;
    /**
     * The id of a message that SNS has published first, a UUID in lower case. Subscribers see it in place of the message’s own id. Needs the scope `manage` too.
     */
    sourceId?: string;
};

/**
 * A part of a search.
 */
export type MessageSearch = {
    /**
     * Messages by their newest entry, newest first. A later page may have one again.
     */
    messages: Array<SearchedMessage>;
    /**
     * The search looked back to this time: ISO 8601 in UTC. null: the log has nothing there.
     */
    scannedTo: string | null;
    /**
     * Give it as `cursor` to look further back. null: the search looked at everything.
     */
    nextCursor: string | null;
};

/**
 * An API key to be made.
 */
export type NewKey = {
    /**
     * Name for people; it need not be unique.
     */
    name: string;
    /**
     * native: a bearer token for this API; aws: signs requests of the AWS protocols. Default native.
     */
    kind?: 'native' | 'aws';
    /**
     * Everything the key may do. It can have only scopes that the caller’s own key has.
     */
    scopes: Array<'publish' | 'read' | 'manage' | 'redrive' | 'consume' | 'sms' | 'bodies'>;
    /**
     * Only topics and queues whose names begin with one of these. Default: all.
     */
    prefixes?: Array<string>;
    /**
     * Account that the key acts for, 12 digits. Default, and the only one that a key can give: the caller’s own.
     */
    account?: string;
    /**
     * Requests past this rate get 429. Default unlimited; a key with a limit must give at most its own.
     */
    maxRequestsPerSecond?: number | null;
};

/**
 * A device or browser. An application has at most 1000000.
 */
export type NewPlatformEndpoint = {
    /**
     * Token of the device, at most 8192 bytes. APNs: at most 400 hexadecimal digits. WEBPUSH: the JSON of the browser's PushSubscription.
     */
    token: string;
    /**
     * Your own words about it, at most 2048 bytes. They are never sent. Default: none.
     */
    userData?: string;
    /**
     * Whether notifications are sent to it. Default: true.
     */
    enabled?: boolean;
};

/**
 * A subscription to be made: an endpoint and how messages are delivered to it.
 */
export type NewSubscription = {
    /**
     * An http or https URL, the ARN of a queue, function, delivery stream or platform endpoint, a mail address, or a phone number. With the protocol sqs, lambda or firehose its name will do.
     */
    endpoint: string;
    /**
     * Must agree with the endpoint. Default: what the endpoint says.
     */
    protocol?: 'http' | 'https' | 'sqs' | 'lambda' | 'firehose' | 'email' | 'email-json' | 'sms' | 'application';
    /**
     * handshake: pending until the endpoint confirms; webhooks and mail, which needs it. Default none, for mail handshake.
     */
    confirmation?: 'none' | 'handshake';
    /**
     * native: as made over this API. aws: as made over an AWS protocol, so that webhooks get requests in the form of SNS: its content type, user agent and headers. After a 410 a delivery has failed, and without a redrive policy it is discarded. Default native.
     */
    origin?: 'native' | 'aws';
    /**
     * paused: messages wait from the beginning. Not with a handshake. It does not change an existing subscription. Default: active.
     */
    status?: 'paused';
    /**
     * Name for people, up to 100 characters; it need not be unique. Default: none.
     */
    name?: string | null;
    /**
     * Your own words about it, up to 20 texts by key. A change replaces all of them. Default: none.
     */
    metadata?: {
        [key: string]: string;
    } | null;
    /**
     * Retries, throttle and content type of attempts at webhooks. It replaces the policy as a whole; null removes it.
     */
    deliveryPolicy?: DeliveryPolicyInput | null;
    /**
     * true: the bare message is delivered instead of SNS’s JSON envelope. Default false.
     */
    rawMessageDelivery?: boolean | null;
    /**
     * The queue for deliveries that failed permanently. `{}`, the default of a new one: to the topic’s own dead-letter queue, which the first of them makes. null: they are discarded and counted.
     */
    redrivePolicy?: {
        /**
         * The dead-letter queue, by its name or ARN. It must exist, unless createQueue is true. Default: the topic’s own.
         */
        deadLetterTargetArn?: string;
        /**
         * true: the dead-letter queue is made if there is none. Default false.
         */
        createQueue?: boolean;
    } | null;
    /**
     * Which messages it gets, in SNS’s filter language: per key a list of alternatives. Default: all.
     */
    filterPolicy?: {
        [key: string]: unknown;
    } | null;
    /**
     * Whether the filter looks at attributes or at the message as JSON. Default MessageAttributes.
     */
    filterPolicyScope?: 'MessageAttributes' | 'MessageBody' | null;
    /**
     * Which event types it gets, in addition to what its filter policy asks: names, `order.*` for every type below `order.`, or `*` for every message with a type. At most 50. Default: all messages.
     */
    eventTypes?: Array<string> | null;
    /**
     * Attempts at a time per worker, at most. Default 32.
     */
    maxInFlight?: number | null;
    /**
     * policy: retries follow the retry policy alone. standard: they also draw on a quota. adaptive: and the rate of attempts falls and recovers with the endpoint. Webhooks only. Default policy.
     */
    retryMode?: 'policy' | 'standard' | 'adaptive' | null;
    /**
     * Stops attempts at a dead endpoint and probes from time to time whether it is back. Webhooks only. Default none.
     */
    circuitBreaker?: {
        /**
         * Failures in a row that open the circuit. Default 10.
         */
        failures?: number;
        /**
         * Seconds between two attempts while the circuit is open. Default 30.
         */
        probeSeconds?: number;
    } | null;
    /**
     * Bounds the rate of attempts for each message group, over all workers, in addition to the throttle of the whole subscription. Webhooks only. Default none.
     */
    groupThrottle?: {
        /**
         * The most attempts per second for each message group without an override. Default: no bound.
         */
        maxReceivesPerSecond?: number | null;
        /**
         * Rates of single groups, at most 100.
         */
        overrides?: {
            [key: string]: number;
        };
    } | null;
    /**
     * After a 410 (Gone) of the endpoint. pause: the subscription is paused, and its messages wait. deadLetter: the delivery has failed permanently. Webhooks only. Default pause, or deadLetter if an AWS protocol made the subscription.
     */
    onGone?: 'pause' | 'deadLetter' | null;
    /**
     * Whether the signatures of webhook keys are also sent as `svix-id`, `svix-timestamp` and `svix-signature`. Webhooks only. Default false.
     */
    svixHeaders?: boolean | null;
    /**
     * How the endpoint is reached beyond its URL: proxy, certificates, headers. Webhooks only. Default: plainly.
     */
    outbound?: {
        /**
         * `http(s)://[user:password@]host:port`. Every connection is a CONNECT tunnel through it.
         */
        proxy?: string | null;
        /**
         * Certificate and key shown to an endpoint that asks for a client certificate (mTLS).
         */
        clientCertificate?: {
            /**
             * PEM, the whole chain, the client’s own certificate first.
             */
            certificate: string;
            /**
             * PEM without a passphrase, of the first certificate. It is never shown again.
             */
            privateKey: string;
        } | null;
        /**
         * Certificates in PEM that are trusted in addition to the system’s authorities.
         */
        ca?: string | null;
        /**
         * Headers sent with every request, at most 20 and 8,192 bytes together. The values are never shown again. `User-Agent` replaces the usual one.
         */
        headers?: {
            [key: string]: string;
        } | null;
        /**
         * Each request carries a bearer token by OAuth 2 client credentials (RFC 6749 §4.4). Subscriptions only.
         */
        oauth?: {
            /**
             * `http(s)` URL that answers with access tokens, without user and password.
             */
            tokenUrl: string;
            /**
             * Id of the client, as the token server knows it.
             */
            clientId: string;
            /**
             * Secret of the client. It is never shown again.
             */
            clientSecret: string;
            /**
             * Scopes to ask for, separated by spaces.
             */
            scope?: string;
            /**
             * Audience to ask for, where the token server wants one.
             */
            audience?: string;
        } | null;
    } | null;
    /**
     * Attributes of the AWS API without a member here, as texts: `SubscriptionRoleArn`. A change replaces all of them. Default: none.
     */
    attributes?: {
        [key: string]: string;
    } | null;
};

/**
 * Why an address gets no mail.
 */
export type NewSuppression = {
    /**
     * bounce: its server does not know the address. complaint: its reader called a mail unwanted. manual: an operator wants it so. Default manual.
     */
    reason?: 'bounce' | 'complaint' | 'manual';
    /**
     * Your own words about it. Default: none.
     */
    detail?: string;
};

/**
 * An empty object; the body may be left out.
 */
export type NoMembers = {
    [key: string]: never;
};

/**
 * A notice, which Fantail publishes to a topic with the setting `notices`.
 */
export type Notice = {
    /**
     * The kind of the notice, which the message attribute `eventType` has too. endpoint.failing: Attempts have failed, or could not be made, for FANTAIL_NOTICE_MINUTES or longer. endpoint.circuitOpen: The circuit of a subscription is open. endpoint.behind: The deliveries that wait need more than an hour. endpoint.gone: The endpoint answered 410 (Gone), so Fantail paused the subscription. endpoint.disabled: The endpoint failed for the topic’s `disableAfterDays`, so Fantail paused the subscription. endpoint.recovered: Attempts succeed again, or what waits needs less than half an hour. delivery.deadLettered: Deliveries were dead-lettered. quarantine.added: Data that could not be read came into the quarantine. server.memory: Redis has used 65 % of its memory. Publishing stops at 75 %. server.disk: Redis could not write its files. server.recovered: One of the two has ended.
     */
    type: 'endpoint.failing' | 'endpoint.circuitOpen' | 'endpoint.behind' | 'endpoint.gone' | 'endpoint.disabled' | 'endpoint.recovered' | 'delivery.deadLettered' | 'quarantine.added' | 'server.memory' | 'server.disk' | 'server.recovered';
    /**
     * When Fantail saw it: ISO 8601 in UTC, with milliseconds.
     */
    at: string;
    /**
     * The same in words, for people. Mails and text messages have only this.
     */
    message: string;
    /**
     * Host of the endpoints; of mail the domain. null: the notice concerns no host, or several.
     */
    host: string | null;
    /**
     * How many subscriptions, dead letters or entries it is about; 1 for the server.
     */
    count: number;
    /**
     * Subscriptions that it is about, at most 20.
     */
    subscriptions: Array<{
        /**
         * The subscription that the alarm is about, by its id.
         */
        id: string;
        /**
         * The topic that it belongs to, by its ARN.
         */
        topicArn: string;
        /**
         * Name of the subscription; null: it has none.
         */
        name: string | null;
        /**
         * Since when it holds: ISO 8601 in UTC. null: unknown.
         */
        since: string | null;
        /**
         * Verdict on its lane; null: all is well.
         */
        verdict: 'gone' | 'paused' | 'pending' | 'misconfigured' | 'noToken' | 'dlqMissing' | 'endpointDisabled' | 'queueMissing' | 'queueRefuses' | 'quarantined' | 'circuitOpen' | 'failing' | 'hung' | 'groupBlocked' | 'tooSlowIn' | 'throttled' | 'undispatched' | 'catchingUp' | 'fine' | null;
    }>;
    /**
     * Topics of the dead letters or entries, those with the most first, at most 20.
     */
    topics: Array<{
        /**
         * The topic that it belongs to, by its ARN.
         */
        topicArn: string;
        /**
         * How many of this topic.
         */
        count: number;
    }>;
};

/**
 * SNS’s envelope around a published message. Raw deliveries send the bare message instead.
 */
export type Notification = {
    /**
     * The kind of request: a published message.
     */
    Type: 'Notification';
    /**
     * Id of the message, the same at every attempt: drop what you have seen.
     */
    MessageId: string;
    /**
     * ARN of the topic the message was published to.
     */
    TopicArn: string;
    /**
     * When it was published: ISO 8601 in UTC, with milliseconds.
     */
    Timestamp: string;
    /**
     * FIFO topics only: 20 digits, rising with every message.
     */
    SequenceNumber?: string;
    /**
     * The subject it was published with, if any.
     */
    Subject?: string;
    /**
     * The published text; an object or array as its JSON text.
     */
    Message: string;
    /**
     * `1` (SHA-1) or `2` (SHA-256). Signed topics only, as the two members below.
     */
    SignatureVersion?: string;
    /**
     * Signature of the members as Amazon SNS makes it, in base64.
     */
    Signature?: string;
    /**
     * The address of the certificate that verifies the signature.
     */
    SigningCertURL?: string;
    /**
     * A GET of this URL ends the subscription.
     */
    UnsubscribeURL: string;
    /**
     * Attributes it was published with, by name; absent where it has none.
     */
    MessageAttributes?: {
        [key: string]: {
            /**
             * `String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.
             */
            Type: string;
            /**
             * The value as text; base64 where the type is Binary.
             */
            Value: string;
        };
    };
};

/**
 * A phone number that gets no text messages.
 */
export type OptOut = {
    /**
     * The number, as `+` and digits.
     */
    number: string;
};

export type OptOutList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    optOuts: Array<OptOut>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * The server at a glance.
 */
export type Overview = {
    /**
     * When the lanes were read: ISO 8601 in UTC, with milliseconds.
     */
    at: string;
    /**
     * Release that the answering process runs, as in its package.json.
     */
    version: string;
    /**
     * Commit that it runs; `unknown` where nothing says it.
     */
    commit: string;
    /**
     * false: there is more than one overview counts, and the figures leave some out.
     */
    complete: boolean;
    /**
     * Topics that the caller may see.
     */
    topics: number;
    /**
     * Subscriptions of these topics, pending and paused ones included.
     */
    subscriptions: number;
    /**
     * Queues that the caller may see.
     */
    queues: number;
    /**
     * Deliveries that wait for an attempt.
     */
    waiting: number;
    /**
     * Deliveries whose attempt is under way.
     */
    inFlight: number;
    /**
     * Lanes with a verdict that needs attention.
     */
    inNeed: number;
    /**
     * How many busy lanes have which verdict. A verdict that is missing has no lane.
     */
    verdicts: {
        [key: string]: number;
    };
    /**
     * Problems that need attention, worst first, at most ten. Lanes of one host and verdict are one problem.
     */
    problems: Array<{
        /**
         * Host of the lanes, as `listLanes` groups them.
         */
        host: string;
        /**
         * How many lanes of this host have this verdict.
         */
        lanes: number;
        /**
         * Deliveries that wait in these lanes.
         */
        waiting: number;
        /**
         * The worst of these lanes.
         */
        worst: Lane;
    }>;
    /**
     * Dead letters in all these queues together.
     */
    deadLetters: number;
    /**
     * The queues with the most dead letters, at most five.
     */
    fullest: Array<{
        /**
         * ARN of a queue that holds dead letters.
         */
        queueArn: string;
        /**
         * How many it holds.
         */
        deadLetters: number;
    }>;
    /**
     * Redrives under way or paused, of these queues.
     */
    activeRedrives: number;
    /**
     * How full Redis is. null: the key is bound to names or to another account.
     */
    memory: {
        /**
         * Bytes that Redis uses.
         */
        usedBytes: number;
        /**
         * Bytes that it may use; null: unknown.
         */
        limitBytes: number | null;
        /**
         * Bytes past which publishing is refused; null: unknown.
         */
        watermarkBytes: number | null;
    } | null;
};

/**
 * A credential of mobile push, with its settings.
 */
export type PlatformApplication = {
    /**
     * ARN that AWS clients name the application by.
     */
    arn: string;
    /**
     * The service that its notifications go to.
     */
    platform: 'GCM' | 'APNS' | 'APNS_SANDBOX' | 'WEBPUSH';
    /**
     * Name as in the path, unique in its account and platform.
     */
    name: string;
    /**
     * Whether notifications are sent.
     */
    enabled: boolean;
    /**
     * Topics that hear of endpoints.
     */
    events: {
        /**
         * ARN of a topic that hears when an endpoint is made.
         */
        endpointCreated: string | null;
        /**
         * ARN of a topic that hears when an endpoint is changed or disabled.
         */
        endpointUpdated: string | null;
        /**
         * ARN of a topic that hears when an endpoint is deleted.
         */
        endpointDeleted: string | null;
        /**
         * ARN of a topic that hears when a notification to one endpoint has failed permanently.
         */
        deliveryFailure: string | null;
    };
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
};

export type PlatformApplicationList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    applications: Array<PlatformApplication>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * Settings of a platform application. A new one needs the whole credential of its platform.
 */
export type PlatformApplicationSettings = {
    /**
     * GCM: JSON of a service account. APNs: the .p8 signing key. WEBPUSH: private VAPID key. It is never shown.
     */
    credential?: string;
    /**
     * APNs: id of the signing key. WEBPUSH: public VAPID key. GCM has none.
     */
    principal?: string;
    /**
     * APNs: team of the signing key.
     */
    teamId?: string;
    /**
     * APNs: bundle id of the application.
     */
    bundleId?: string;
    /**
     * WEBPUSH: `mailto:` or `https:` address of the sender.
     */
    subject?: string;
    /**
     * Whether notifications are sent. Default: true.
     */
    enabled?: boolean;
    /**
     * Topics to which events of endpoints are published; null resets one. Default: none.
     */
    events?: {
        /**
         * ARN of a topic that hears when an endpoint is made.
         */
        endpointCreated?: string | null;
        /**
         * ARN of a topic that hears when an endpoint is changed or disabled.
         */
        endpointUpdated?: string | null;
        /**
         * ARN of a topic that hears when an endpoint is deleted.
         */
        endpointDeleted?: string | null;
        /**
         * ARN of a topic that hears when a notification to one endpoint has failed permanently.
         */
        deliveryFailure?: string | null;
    };
};

/**
 * A device or browser that gets notifications.
 */
export type PlatformEndpoint = {
    /**
     * UUID that the path of the endpoint ends with.
     */
    id: string;
    /**
     * ARN that AWS clients name the endpoint by.
     */
    arn: string;
    /**
     * Token that its provider gave to the device. APNs: in lower case.
     */
    token: string;
    /**
     * Whether notifications are sent to it.
     */
    enabled: boolean;
    /**
     * Your own words about it. null: never set.
     */
    userData: string | null;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
};

export type PlatformEndpointList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    endpoints: Array<PlatformEndpoint>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * Members of an endpoint to set.
 */
export type PlatformEndpointSettings = {
    /**
     * Token of the device, at most 8192 bytes. APNs: at most 400 hexadecimal digits. WEBPUSH: the JSON of the browser's PushSubscription. Default: it stays.
     */
    token?: string;
    /**
     * Your own words about it, at most 2048 bytes. They are never sent. Default: they stay.
     */
    userData?: string;
    /**
     * Whether notifications are sent to it. Default: it stays.
     */
    enabled?: boolean;
};

/**
 * Recorded attempts at an endpoint.
 */
export type PortalAttemptList = {
    /**
     * false: no attempts are recorded here.
     */
    recording: boolean;
    /**
     * Recorded attempts, newest first, at most 100.
     */
    attempts: Array<{
        /**
         * Id of the message, as publishing answered it.
         */
        messageId: string;
        /**
         * Number of the attempt; 1 is the first.
         */
        attempt: number;
        /**
         * When the attempt began: ISO 8601 in UTC, with milliseconds.
         */
        startedAt: string;
        /**
         * Milliseconds that it took.
         */
        durationMs: number;
        /**
         * HTTP status of the answer; null: none came.
         */
        statusCode: number | null;
        /**
         * Why no answer came, as a code; null: there was one.
         */
        error: string | null;
        /**
         * The first KiB of the endpoint’s answer. null: not recorded, hidden, or without the scope bodies.
         */
        answer: string | null;
    }>;
};

/**
 * Messages of an endpoint that could not be delivered.
 */
export type PortalDeadLetterList = {
    /**
     * Dead letters of this endpoint.
     */
    total: number;
    /**
     * Oldest first, at most 50. Large texts make them fewer.
     */
    deadLetters: Array<{
        /**
         * Id of the message, as publishing answered it.
         */
        messageId: string;
        /**
         * When it was published: ISO 8601 in UTC, with milliseconds.
         */
        publishedAt: string;
        /**
         * When it was given up: ISO 8601 in UTC, with milliseconds.
         */
        deadLetteredAt: string;
        /**
         * Why: permanent, retriesExhausted, expired, outcomeUnknown or setAside.
         */
        reason: string;
        /**
         * HTTP status of the last answer; null: none or unknown.
         */
        statusCode: number | null;
        /**
         * Why the last attempt had no answer, as a code; null otherwise.
         */
        error: string | null;
        /**
         * Attempts that were made.
         */
        attempts: number;
        /**
         * The text; null: the session lacks the scope bodies.
         */
        body: string | null;
        /**
         * Size of the text; null: it cannot be read now.
         */
        bodyBytes: number | null;
    }>;
};

/**
 * An endpoint of a portal session.
 */
export type PortalEndpoint = {
    /**
     * Id of the endpoint’s subscription, a UUID.
     */
    id: string;
    /**
     * Name of the topic whose messages it gets.
     */
    topic: string;
    /**
     * The address that its messages go to. Credentials in it are masked.
     */
    endpoint: string;
    /**
     * The address to which it moves once that address has confirmed; null: nowhere.
     */
    pendingEndpoint: string | null;
    /**
     * The name that it was given; null: none.
     */
    name: string | null;
    /**
     * pending: the endpoint must confirm first.
     */
    status: 'pending' | 'active' | 'paused';
    /**
     * failing: attempts fail, or nothing can be sent. working: all others, also before the first message.
     */
    state: 'working' | 'failing' | 'paused' | 'pending';
    /**
     * Event types that it gets, by names and patterns like `order.*`; null: all messages.
     */
    eventTypes: Array<string> | null;
    /**
     * The rate that the customer has set, in requests a second; null: none.
     */
    maxPerSecond: number | null;
    /**
     * The rate in force: the lower one of the customer’s and the service’s; null: unlimited.
     */
    perSecond: number | null;
    /**
     * Deliveries that wait for an attempt.
     */
    waiting: number;
    /**
     * Deliveries whose attempt is under way.
     */
    inFlight: number;
    /**
     * Its state, as in the verdict of a subscription. undispatched: messages wait in the service.
     */
    verdict: 'gone' | 'paused' | 'pending' | 'circuitOpen' | 'failing' | 'hung' | 'groupBlocked' | 'tooSlowIn' | 'throttled' | 'undispatched' | 'catchingUp' | 'fine';
    /**
     * HTTP status of the latest failure; null: there was none, or a success came after it.
     */
    lastStatusCode: number | null;
    /**
     * When the next attempt comes, ISO 8601 in UTC; null: none.
     */
    nextAttemptAt: string | null;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
};

/**
 * Members that are left out stay as they are; null removes one.
 */
export type PortalEndpointChange = {
    /**
     * The new address. It must be the only member.
     */
    endpoint?: string;
    /**
     * A text by which people know the endpoint; null: none.
     */
    name?: string | null;
    /**
     * Event types that it gets, by names and patterns: `order.paid`, `order.*`, or `*` for every message with a type. null: all messages.
     */
    eventTypes?: Array<string> | null;
    /**
     * The rate in requests a second; null: that of the service.
     */
    maxPerSecond?: number | null;
};

/**
 * An endpoint to be added.
 */
export type PortalEndpointInput = {
    /**
     * Name of a topic of the session.
     */
    topic: string;
    /**
     * An http or https URL.
     */
    endpoint: string;
    /**
     * A text by which people know the endpoint.
     */
    name?: string;
    /**
     * Event types that it gets, by names and patterns: `order.paid`, `order.*`, or `*` for every message with a type. Default: all messages.
     */
    eventTypes?: Array<string>;
    /**
     * Requests a second, at most; from 1 on a whole number. A lower rate of the service holds.
     */
    maxPerSecond?: number;
};

/**
 * A page of the endpoints of a portal session.
 */
export type PortalEndpointList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    endpoints: Array<PortalEndpoint>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * A type of messages, with its schema and examples.
 */
export type PortalEventType = {
    /**
     * Name of the event type.
     */
    name: string;
    /**
     * Its meaning for people; null: none is given.
     */
    description: string | null;
    /**
     * Whether the type will go.
     */
    deprecated: boolean;
    /**
     * Number of the schema; null: the type has none.
     */
    version: number | null;
    /**
     * JSON Schema of draft 2020-12 for the message; null: the type has none.
     */
    schema: {
        [key: string]: unknown;
    } | null;
    /**
     * Messages of this type.
     */
    examples: Array<unknown>;
};

/**
 * Event types that endpoints can choose.
 */
export type PortalEventTypeList = {
    /**
     * All event types of the topic, sorted by name: at most 200.
     */
    eventTypes: Array<{
        /**
         * Name of the event type.
         */
        name: string;
        /**
         * Its meaning for people; null: none is given.
         */
        description: string | null;
        /**
         * Whether the type will go.
         */
        deprecated: boolean;
    }>;
};

/**
 * A link that opens the portal once.
 */
export type PortalLink = {
    /**
     * Id of the link and of its session, no secret. Audit lines have it.
     */
    id: string;
    /**
     * Opens the portal. It works once. The token is behind the `#`, which no server sees.
     */
    url: string;
    /**
     * When the link can no longer be opened, ten minutes from now: ISO 8601 in UTC, with milliseconds.
     */
    expiresAt: string;
};

/**
 * Rights of a customer in the portal.
 */
export type PortalLinkInput = {
    /**
     * The session is for topics whose names begin with one of these, and may add endpoints there.
     */
    prefixes?: Array<string>;
    /**
     * Ids of the only subscriptions that the session may see. It cannot add others.
     */
    subscriptions?: Array<string>;
    /**
     * Rights of the session, at most those of the caller’s key. read: see endpoints and their messages. manage: add, change, delete, pause, resume and test endpoints, make keys of signatures. redrive: send messages again. bodies: see texts of messages and answers of endpoints.
     */
    scopes: Array<'read' | 'manage' | 'redrive' | 'bodies'>;
    /**
     * How long the session lasts, a minute to a day. Default 3600.
     */
    ttlSeconds?: number;
    /**
     * How the portal looks.
     */
    theme?: {
        /**
         * Shown as the title. Default Fantail.
         */
        name?: string;
        /**
         * A picture as a data URL: png, jpeg or webp in base64, at most 16 KiB. No SVG.
         */
        logo?: string;
        /**
         * Colour of the head and of buttons. White text on it needs a contrast of 4.5.
         */
        colour?: string;
    };
    /**
     * Language of the portal: en or de. Default, and instead of others: that of the browser.
     */
    language?: string;
};

/**
 * A message to an endpoint.
 */
export type PortalMessage = {
    /**
     * Id of the message, as publishing answered it.
     */
    messageId: string;
    /**
     * When it was published: ISO 8601 in UTC, with milliseconds.
     */
    publishedAt: string;
    /**
     * When this was recorded: ISO 8601 in UTC, with milliseconds.
     */
    at: string;
    /**
     * waiting: it will be attempted. failed: it was given up.
     */
    state: 'delivered' | 'waiting' | 'failed';
    /**
     * Its event type. null: none, no longer stored, or without the scope bodies.
     */
    eventType: string | null;
    /**
     * The beginning of its text, in one line. null: no longer stored, or without the scope bodies.
     */
    line: string | null;
    /**
     * Attempts that were made; null: unknown.
     */
    attempts: number | null;
    /**
     * HTTP status of the last answer; null: none or unknown.
     */
    statusCode: number | null;
    /**
     * Why the last attempt had no answer, as a code; null otherwise.
     */
    error: string | null;
};

/**
 * A message to an endpoint, with its attempts.
 */
export type PortalMessageDetail = {
    /**
     * Id of the message, as publishing answered it.
     */
    messageId: string;
    /**
     * When it was published: ISO 8601 in UTC, with milliseconds.
     */
    publishedAt: string;
    /**
     * null: no longer known.
     */
    state: 'delivered' | 'waiting' | 'failed' | null;
    /**
     * Its event type; null: it has none, or is no longer stored.
     */
    eventType: string | null;
    /**
     * Its text. null: no longer stored, or without the scope bodies.
     */
    body: string | null;
    /**
     * Whether its text is stored, so that it can be sent again.
     */
    canResend: boolean;
    /**
     * Its recorded attempts, newest first.
     */
    attempts: Array<{
        /**
         * Id of the message, as publishing answered it.
         */
        messageId: string;
        /**
         * Number of the attempt; 1 is the first.
         */
        attempt: number;
        /**
         * When the attempt began: ISO 8601 in UTC, with milliseconds.
         */
        startedAt: string;
        /**
         * Milliseconds that it took.
         */
        durationMs: number;
        /**
         * HTTP status of the answer; null: none came.
         */
        statusCode: number | null;
        /**
         * Why no answer came, as a code; null: there was one.
         */
        error: string | null;
        /**
         * The first KiB of the endpoint’s answer. null: not recorded, hidden, or without the scope bodies.
         */
        answer: string | null;
    }>;
};

/**
 * The latest messages to an endpoint, newest first.
 */
export type PortalMessageList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    messages: Array<PortalMessage>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
    /**
     * How far back the search looked, ISO 8601 in UTC; null: nowhere.
     */
    scannedTo: string | null;
};

/**
 * The token of a portal link.
 */
export type PortalRedeemInput = {
    /**
     * The part of the link behind the `#`.
     */
    token: string;
};

/**
 * Failed messages on their way again, or a count of them.
 */
export type PortalRedrive = {
    /**
     * Failed messages that are sent again.
     */
    matched: number;
    /**
     * How many a second, at most.
     */
    maxMessagesPerSecond: number;
};

/**
 * Which failed messages are sent again.
 */
export type PortalRedriveInput = {
    /**
     * Only what was given up at this time or later. Default: all.
     */
    since?: string;
    /**
     * true: only counts. Default false.
     */
    dryRun?: boolean;
};

/**
 * A message that is sent again.
 */
export type PortalResend = {
    /**
     * Id of the message, as publishing answered it.
     */
    messageId: string;
};

/**
 * Rights of this portal session.
 */
export type PortalSession = {
    /**
     * Id of the session, no secret.
     */
    id: string;
    /**
     * read: see endpoints and their messages. manage: add, change, delete, pause, resume and test endpoints, make keys of signatures. redrive: send messages again. bodies: see texts of messages and answers of endpoints.
     */
    scopes: Array<'read' | 'manage' | 'redrive' | 'bodies'>;
    /**
     * Whether the session may add endpoints: with manage, and not for single subscriptions.
     */
    canAdd: boolean;
    /**
     * How the portal looks.
     */
    theme: {
        /**
         * Title of the portal; null: Fantail.
         */
        name: string | null;
        /**
         * A picture as a data URL; null: none.
         */
        logo: string | null;
        /**
         * A colour like `#0b6e75`; null: the usual one.
         */
        colour: string | null;
    };
    /**
     * When the session ends at the latest: ISO 8601 in UTC, with milliseconds.
     */
    endsAt: string;
};

/**
 * A week of an endpoint.
 */
export type PortalStats = {
    /**
     * Length of a step: 3600.
     */
    stepSeconds: number;
    /**
     * false: no figures are kept for this endpoint. The lists are empty then.
     */
    kept: boolean;
    /**
     * When each hour began, oldest first. The last is under way.
     */
    at: Array<string>;
    /**
     * Messages delivered, in each hour.
     */
    delivered: Array<number>;
    /**
     * Attempts that failed, in each hour.
     */
    failed: Array<number>;
    /**
     * Messages given up, in each hour.
     */
    deadLettered: Array<number>;
    /**
     * Mean time from publishing to arrival, ms, at most 10 % off. null: none arrived.
     */
    meanMs: Array<number | null>;
};

/**
 * Result of a test.
 */
export type PortalTest = {
    /**
     * HTTP status that the endpoint answered; null: it answered nothing.
     */
    statusCode: number | null;
    /**
     * How long the attempt took, ms.
     */
    durationMs: number;
    /**
     * Why there was no answer, as a code; null: there was one.
     */
    error: string | null;
    /**
     * The first KiB of the endpoint’s answer. null: hidden, or without the scope bodies.
     */
    answer: string | null;
};

/**
 * A message for a test.
 */
export type PortalTestInput = {
    /**
     * Sends an example of this event type. Default: a message that says that it is a test.
     */
    eventType?: string;
    /**
     * Which of its examples, from 0. Default 0.
     */
    example?: number;
};

/**
 * Topics of a portal session.
 */
export type PortalTopicList = {
    /**
     * Names of the topics of the session.
     */
    topics: Array<string>;
    /**
     * false: there are more than the list has.
     */
    complete: boolean;
};

/**
 * A receipt for a single message, or the receipts of a batch.
 */
export type PublishAnswer = PublishReceipt | PublishReceiptList;

/**
 * One message, or a batch under `messages`.
 */
export type PublishInput = MessageInput | MessageBatchInput;

/**
 * A message that is stored.
 */
export type PublishReceipt = {
    /**
     * Id of the stored message, a UUIDv7. A FIFO duplicate has the id of the first copy.
     */
    messageId: string;
    /**
     * FIFO only: 20 digits, rising with every message of the topic.
     */
    sequenceNumber?: string;
    /**
     * Why the message does not fit the catalogue of its topic, or that its type is deprecated.
     */
    warning?: string;
};

/**
 * The receipts of a batch.
 */
export type PublishReceiptList = {
    /**
     * One receipt per message, in the order of the request.
     */
    results: Array<PublishReceipt>;
};

/**
 * The dead letters to remove.
 */
export type PurgeInput = {
    /**
     * Only dead letters that ended for this reason. Default: everything in the queue.
     */
    reason?: 'permanent' | 'retriesExhausted' | 'expired' | 'outcomeUnknown' | 'setAside' | null;
    /**
     * Which messages to remove: all conditions must hold. Cannot be given with `reason`.
     */
    filter?: {
        /**
         * Only dead letters of this subscription, by its id or ARN. A deleted one needs its ARN.
         */
        subscription?: string;
        /**
         * Only dead letters of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only dead letters that ended for this reason.
         */
        reason?: 'permanent' | 'retriesExhausted' | 'expired' | 'outcomeUnknown' | 'setAside';
        /**
         * Only dead letters whose last attempt failed with this code, such as `timeout`. `none`: it has no code.
         */
        error?: string;
        /**
         * Only dead letters that were dead-lettered at this time or later: ISO 8601 with an offset.
         */
        since?: string;
        /**
         * Only dead letters that were dead-lettered at this time or earlier: ISO 8601 with an offset.
         */
        until?: string;
        /**
         * Only dead letters whose last attempt got this HTTP status, 100 to 599. `none`: it got no answer.
         */
        statusCode?: number | 'none';
        /**
         * Only these messages, by the queue’s id or the published one: 1 to 1000.
         */
        messageIds?: Array<string>;
    };
    /**
     * true: only count what would be removed, as `matched`. Default false.
     */
    dryRun?: boolean;
};

export type PurgeResult = {
    /**
     * Messages that were removed, in flight and delayed ones included.
     */
    discarded: number;
    /**
     * Only of a dry run: messages that would be removed.
     */
    matched?: number;
};

/**
 * A webhook or function that a queue’s messages are pushed to in batches.
 */
export type PushConsumer = {
    /**
     * Name of the consumer, unique in its queue.
     */
    name: string;
    /**
     * ARN of the queue whose messages are pushed.
     */
    queueArn: string;
    /**
     * URL that batches are posted to, or ARN of the function; a password in it is masked.
     */
    url: string;
    /**
     * Messages per request at most, 1 to 1,000.
     */
    batchSize: number;
    /**
     * How long a batch that is not full waits for more messages.
     */
    batchWindowSeconds: number;
    /**
     * Requests at a time at most, over all workers.
     */
    concurrency: number;
    /**
     * Deadline of a request, from connecting to the end of the answer.
     */
    timeoutSeconds: number;
    /**
     * false: no request begins, and messages stay queued.
     */
    enabled: boolean;
    /**
     * Whether a 2xx may name messages of the batch that failed.
     */
    reportBatchItemFailures: boolean;
    /**
     * How the URL is reached beyond itself; null: plainly.
     */
    outbound: {
        /**
         * URL of the proxy, its password masked; null: direct connections.
         */
        proxy: string | null;
        /**
         * Certificate shown to an endpoint that asks for one (mTLS); null: none.
         */
        clientCertificate: {
            /**
             * PEM, the whole chain, without the private key.
             */
            certificate: string;
        } | null;
        /**
         * Certificates in PEM that are trusted in addition to the system’s. null: only the system’s.
         */
        ca: string | null;
        /**
         * Names of the headers sent with every request, without their values.
         */
        headers: Array<string>;
        /**
         * How access tokens are asked for, without the secret; null: none are.
         */
        oauth: {
            /**
             * `http(s)` URL that answers with access tokens, without user and password.
             */
            tokenUrl: string;
            /**
             * Id of the client, as the token server knows it.
             */
            clientId: string;
            /**
             * Scopes that are asked for; null: none.
             */
            scope: string | null;
            /**
             * Audience that is asked for; null: none.
             */
            audience: string | null;
        } | null;
    } | null;
    /**
     * Requests under way now, over all workers.
     */
    inFlight: number;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
    /**
     * When a setting was last changed: ISO 8601 in UTC, with milliseconds.
     */
    modifiedAt: string;
};

/**
 * Settings of a push consumer. Members that are left out stay as they are; null resets one.
 */
export type PushConsumerInput = {
    /**
     * The http or https URL that batches are posted to, or the ARN of a function that is invoked with them; needed to create a consumer.
     */
    url?: string;
    /**
     * Messages per request at most; up to 10 on a FIFO queue. Default 10.
     */
    batchSize?: number | null;
    /**
     * How long a batch that is not full waits for more messages; 0 on a FIFO queue. Default 0.
     */
    batchWindowSeconds?: number | null;
    /**
     * Requests at a time, over all workers. Default 1.
     */
    concurrency?: number | null;
    /**
     * Deadline of a request, from connecting to the end of the answer. Default 30.
     */
    timeoutSeconds?: number | null;
    /**
     * false stops further requests; messages stay queued. Default true.
     */
    enabled?: boolean | null;
    /**
     * How the URL is reached beyond itself: proxy, certificates, headers. Default: a plain connection.
     */
    outbound?: {
        /**
         * `http(s)://[user:password@]host:port`. Every connection is a CONNECT tunnel through it.
         */
        proxy?: string | null;
        /**
         * Certificate and key shown to an endpoint that asks for a client certificate (mTLS).
         */
        clientCertificate?: {
            /**
             * PEM, the whole chain, the client’s own certificate first.
             */
            certificate: string;
            /**
             * PEM without a passphrase, of the first certificate. It is never shown again.
             */
            privateKey: string;
        } | null;
        /**
         * Certificates in PEM that are trusted in addition to the system’s authorities.
         */
        ca?: string | null;
        /**
         * Headers sent with every request, at most 20 and 8,192 bytes together. The values are never shown again. `User-Agent` replaces the usual one.
         */
        headers?: {
            [key: string]: string;
        } | null;
        /**
         * Each request carries a bearer token by OAuth 2 client credentials (RFC 6749 §4.4). Subscriptions only.
         */
        oauth?: {
            /**
             * `http(s)` URL that answers with access tokens, without user and password.
             */
            tokenUrl: string;
            /**
             * Id of the client, as the token server knows it.
             */
            clientId: string;
            /**
             * Secret of the client. It is never shown again.
             */
            clientSecret: string;
            /**
             * Scopes to ask for, separated by spaces.
             */
            scope?: string;
            /**
             * Audience to ask for, where the token server wants one.
             */
            audience?: string;
        } | null;
    } | null;
    /**
     * Whether a 2xx may name messages that failed, as `{"batchItemFailures": […]}`. Default false.
     */
    reportBatchItemFailures?: boolean | null;
};

export type PushConsumerList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    consumers: Array<PushConsumer>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * Content of a quarantine entry that was put back.
 */
export type PutBackResult = {
    /**
     * Messages dispatched again, to all matching subscriptions.
     */
    messages: number;
    /**
     * Deliveries parked in the lane of their subscription: 0 or 1.
     */
    deliveries: number;
};

/**
 * Something that cannot be decoded or matched.
 */
export type QuarantineEntry = {
    /**
     * Id of the entry, for the paths of this API.
     */
    id: string;
    /**
     * Why it was put here. `jobUnreadable`: the data of a dispatch job cannot be decoded; `jobDataLost`: the data of a dispatch job is gone, as after a load of an append-only file that was cut; `jobWithoutMessages`: the job with the messages of this part was deleted; `messageUnreadable`: a message among the readable ones of its job cannot be decoded; `messageUnmatchable`: the filters of its topic fail at the message; `topicUnreadable`: the record of the topic that the message was published to cannot be decoded; `bodyMissing`: the body of a waiting delivery is gone; `bodyUnreadable`: the body of a waiting delivery cannot be decoded; `queueMessageUnreadable`: a message of a queue cannot be decoded, or has lost a part; `recordUnreadable`: a stored record, such as that of a queue, cannot be read; it stays where it is, and is tried again.
     */
    reason: 'jobUnreadable' | 'jobDataLost' | 'jobWithoutMessages' | 'messageUnreadable' | 'messageUnmatchable' | 'topicUnreadable' | 'bodyMissing' | 'bodyUnreadable' | 'queueMessageUnreadable' | 'recordUnreadable';
    /**
     * One sentence for the operator: what exactly is wrong.
     */
    detail: string;
    /**
     * When it was put into the quarantine: ISO 8601 in UTC, with milliseconds.
     */
    quarantinedAt: string;
    /**
     * Id of the message; null where it cannot be read, or where the entry holds several.
     */
    messageId: string | null;
    /**
     * Topic of the message; null where it cannot be read.
     */
    topicArn: string | null;
    /**
     * Subscription of a single delivery; null where the entry is about all of its message.
     */
    subscriptionId: string | null;
    /**
     * Size in bytes of what could not be decoded.
     */
    rawBytes: number;
};

/**
 * A quarantine entry with its bytes.
 */
export type QuarantineExport = {
    /**
     * Id of the entry, for the paths of this API.
     */
    id: string;
    /**
     * Why it was put here. `jobUnreadable`: the data of a dispatch job cannot be decoded; `jobDataLost`: the data of a dispatch job is gone, as after a load of an append-only file that was cut; `jobWithoutMessages`: the job with the messages of this part was deleted; `messageUnreadable`: a message among the readable ones of its job cannot be decoded; `messageUnmatchable`: the filters of its topic fail at the message; `topicUnreadable`: the record of the topic that the message was published to cannot be decoded; `bodyMissing`: the body of a waiting delivery is gone; `bodyUnreadable`: the body of a waiting delivery cannot be decoded; `queueMessageUnreadable`: a message of a queue cannot be decoded, or has lost a part; `recordUnreadable`: a stored record, such as that of a queue, cannot be read; it stays where it is, and is tried again.
     */
    reason: 'jobUnreadable' | 'jobDataLost' | 'jobWithoutMessages' | 'messageUnreadable' | 'messageUnmatchable' | 'topicUnreadable' | 'bodyMissing' | 'bodyUnreadable' | 'queueMessageUnreadable' | 'recordUnreadable';
    /**
     * One sentence for the operator: what exactly is wrong.
     */
    detail: string;
    /**
     * When it was put into the quarantine: ISO 8601 in UTC, with milliseconds.
     */
    quarantinedAt: string;
    /**
     * Id of the message; null where it cannot be read, or where the entry holds several.
     */
    messageId: string | null;
    /**
     * Topic of the message; null where it cannot be read.
     */
    topicArn: string | null;
    /**
     * Subscription of a single delivery; null where the entry is about all of its message.
     */
    subscriptionId: string | null;
    /**
     * Size in bytes of what could not be decoded.
     */
    rawBytes: number;
    /**
     * The bytes as they were stored, in base64.
     */
    raw: string;
    /**
     * The same bytes as text; null if they are not UTF-8.
     */
    text: string | null;
};

export type QuarantineList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    entries: Array<QuarantineEntry>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * A queue with its settings and figures.
 */
export type Queue = {
    /**
     * Name of the queue; FIFO queues end in `.fifo`.
     */
    name: string;
    /**
     * Amazon resource name: `arn:aws:sqs:<region>:<account>:<name>`.
     */
    arn: string;
    /**
     * Queue URL for AWS clients: `<public URL>/<account>/<name>`.
     */
    url: string;
    /**
     * How long a received message is hidden from others.
     */
    visibilityTimeoutSeconds: number;
    /**
     * How long a message is kept before it is dropped.
     */
    retentionSeconds: number;
    /**
     * How long a new message is hidden before it can be received.
     */
    delaySeconds: number;
    /**
     * How long a receive without waitSeconds waits for a message.
     */
    receiveWaitSeconds: number;
    /**
     * The queue for messages that were received too often; null: they stay until they expire.
     */
    redrivePolicy: {
        /**
         * ARN of the dead-letter queue that takes them.
         */
        deadLetterTargetArn: string;
        /**
         * Receives after which the next one moves a message there.
         */
        maxReceiveCount: number;
    } | null;
    /**
     * Which queues may name this one as their dead-letter queue; null: all.
     */
    redriveAllowPolicy: {
        /**
         * allowAll: every queue may name this one; denyAll: none may; byQueue: only those in sourceQueueArns.
         */
        redrivePermission: string;
        /**
         * ARNs of the queues that may, with byQueue only.
         */
        sourceQueueArns?: Array<string>;
    } | null;
    /**
     * Limit on a body and its attributes together.
     */
    maximumMessageBytes: number;
    /**
     * The queue is deleted when nobody has received from it for this time. null: it stays.
     */
    leaseSeconds: number | null;
    /**
     * When it is deleted unless a client receives from it before: ISO 8601 in UTC. null: it stays.
     */
    leaseEndsAt: string | null;
    /**
     * Whether messages are stored sealed: their content is encrypted in Redis.
     */
    sealMessages: boolean;
    /**
     * Whether messages keep their order within a group.
     */
    fifo: boolean;
    /**
     * FIFO only: whether a message without deduplicationId gets the SHA-256 of its body.
     */
    contentBasedDeduplication?: boolean;
    /**
     * FIFO only: whether a deduplicationId is unique in the queue or in its message group.
     */
    deduplicationScope?: 'queue' | 'messageGroup';
    /**
     * FIFO only: kept for AWS clients; it limits nothing. null: perQueue.
     */
    fifoThroughputLimit: 'perQueue' | 'perMessageGroupId' | null;
    /**
     * Tags by their keys; empty: there are none.
     */
    tags: {
        [key: string]: string;
    };
    /**
     * Attributes of the AWS API that have no member here, as texts.
     */
    attributes: {
        [key: string]: string;
    };
    /**
     * How many messages are in each state now.
     */
    counts: {
        /**
         * Messages that can be received now.
         */
        visible: number;
        /**
         * Messages that were received and are hidden.
         */
        inFlight: number;
        /**
         * Messages that were sent with a delay which is not over.
         */
        delayed: number;
        /**
         * FIFO only: message groups that wait for something in flight.
         */
        groupsInFlight?: number;
    };
    /**
     * How long the oldest message has been in this queue; null: the queue is empty.
     */
    oldestSeconds: number | null;
    /**
     * Standard queues with message groups only: how the consumers are shared.
     */
    groups?: {
        /**
         * Message groups with visible messages that wait behind the others now.
         */
        noisy: number;
        /**
         * Messages of all other groups that can be received now.
         */
        quietVisible: number;
        /**
         * Messages of all other groups that are in flight.
         */
        quietInFlight: number;
        /**
         * How long the first visible message of the other groups has been here; null: there is none.
         */
        quietOldestSeconds: number | null;
    };
    /**
     * ARNs of the subscriptions and queues whose dead-letter queue it is, and of the topic that made it, as far as the caller may see.
     */
    deadLetterSources: Array<string>;
    /**
     * ARN of the topic that made it for its dead letters. Its bytes are bounded: past them the oldest messages go. null: it was made by a request.
     */
    deadLettersOf: string | null;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
    /**
     * When a setting was last changed: ISO 8601 in UTC, with milliseconds.
     */
    modifiedAt: string;
};

/**
 * A batch of a queue’s messages, in the shape in which AWS Lambda gets it.
 */
export type QueueEvent = {
    /**
     * The messages of the batch, at most batchSize of the consumer.
     */
    Records: Array<{
        /**
         * Id of the message in the queue; name it in `batchItemFailures` if it failed.
         */
        messageId: string;
        /**
         * Handle of this receive, good for the queue’s API.
         */
        receiptHandle: string;
        /**
         * Text of the message; from a topic SNS’s envelope unless delivery is raw.
         */
        body: string;
        /**
         * SQS’s system attributes by name, as text, like `ApproximateReceiveCount` and `MessageGroupId`.
         */
        attributes: {
            [key: string]: string;
        };
        /**
         * Attributes of the message by name.
         */
        messageAttributes: {
            [key: string]: {
                /**
                 * The value as text; absent where the type is Binary.
                 */
                stringValue?: string;
                /**
                 * The value in base64, only where the type is Binary.
                 */
                binaryValue?: string;
                /**
                 * Always empty; Lambda’s events have it.
                 */
                stringListValues: Array<string>;
                /**
                 * Always empty; Lambda’s events have it.
                 */
                binaryListValues: Array<string>;
                /**
                 * `String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.
                 */
                dataType: string;
            };
        };
        /**
         * MD5 of the attributes as SQS computes it; absent without.
         */
        md5OfMessageAttributes?: string;
        /**
         * MD5 of the body, in hex digits.
         */
        md5OfBody: string;
        /**
         * Always `aws:sqs`, as Lambda’s events have it.
         */
        eventSource: 'aws:sqs';
        /**
         * ARN of the queue that the message is in.
         */
        eventSourceARN: string;
        /**
         * Region in the queue’s ARN.
         */
        awsRegion: string;
    }>;
};

/**
 * Settings of a queue. Members that are left out stay as they are; null resets one.
 */
export type QueueInput = {
    /**
     * How long a received message is hidden from others. Default 30.
     */
    visibilityTimeoutSeconds?: number | null;
    /**
     * How long a message is kept before it is dropped. Default 1209600.
     */
    retentionSeconds?: number | null;
    /**
     * How long a new message is hidden before it can be received. Default 0.
     */
    delaySeconds?: number | null;
    /**
     * How long a receive without waitSeconds waits for a message. Default 0.
     */
    receiveWaitSeconds?: number | null;
    /**
     * The queue for messages that were received too often. Default: they stay until they expire.
     */
    redrivePolicy?: {
        /**
         * The dead-letter queue, by its name or ARN.
         */
        deadLetterTargetArn: string;
        /**
         * Receives of a message after which the next one moves it to the dead-letter queue.
         */
        maxReceiveCount: number;
    } | null;
    /**
     * Which queues may name this one as their dead-letter queue. Default: all.
     */
    redriveAllowPolicy?: {
        /**
         * allowAll: every queue may name this one; denyAll: none may; byQueue: only those in sourceQueueArns.
         */
        redrivePermission: 'allowAll' | 'denyAll' | 'byQueue';
        /**
         * Queues by name or ARN, 1 to 10; with byQueue, and only then.
         */
        sourceQueueArns?: Array<string>;
    } | null;
    /**
     * Limit on a body and its attributes together. Default 1048576.
     */
    maximumMessageBytes?: number | null;
    /**
     * When nobody has received from the queue for this time, it is deleted with the subscriptions that deliver to it. Outages of more than 15 s do not count. Only a new queue can get a lease. Default: it stays.
     */
    leaseSeconds?: number | null;
    /**
     * Whether messages are stored sealed: their content is encrypted in Redis. Default false.
     */
    sealMessages?: boolean | null;
    /**
     * Must agree with the name: true where it ends in `.fifo`. It cannot be changed.
     */
    fifo?: boolean | null;
    /**
     * FIFO only: a message without deduplicationId gets the SHA-256 of its body. Default false.
     */
    contentBasedDeduplication?: boolean | null;
    /**
     * FIFO only: whether a deduplicationId is unique in the queue or in its message group. Default queue.
     */
    deduplicationScope?: 'queue' | 'messageGroup' | null;
    /**
     * FIFO only: kept for AWS clients; it limits nothing. Default perQueue.
     */
    fifoThroughputLimit?: 'perQueue' | 'perMessageGroupId' | null;
    /**
     * Tags by their keys, at most 50. A change replaces all of them. Default: none.
     */
    tags?: {
        [key: string]: string;
    } | null;
    /**
     * Attributes of the AWS API without a member here, as texts: `Policy`, `KmsMasterKeyId`, `KmsDataKeyReusePeriodSeconds`, `SqsManagedSseEnabled`. A change replaces all of them. Default: none.
     */
    attributes?: {
        [key: string]: string;
    } | null;
};

export type QueueList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    queues: Array<Queue>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * A message in a queue, looked at without receiving it.
 */
export type QueueMessage = {
    /**
     * Id of the message in this queue. It differs from the id that the publish answered.
     */
    messageId: string;
    /**
     * How often it has been received, this receive included.
     */
    receiveCount: number;
    /**
     * Text of the message; from a topic SNS’s envelope unless delivery is raw. null: the key lacks the scope `bodies`, and sees no attributes.
     */
    body: string | null;
    /**
     * Attributes of the message by name; empty where it has none.
     */
    attributes: {
        [key: string]: {
            /**
             * `String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.
             */
            type: string;
            /**
             * The value as text; base64 where the type is Binary.
             */
            value: string;
        };
    };
    /**
     * When it came into this queue: ISO 8601 in UTC, with milliseconds.
     */
    sentAt: string;
    /**
     * Message group that it was sent with, if any.
     */
    groupId?: string;
    /**
     * FIFO only: the id given, or the SHA-256 of the body.
     */
    deduplicationId?: string;
    /**
     * FIFO only: 20 digits, rising with every message of the queue.
     */
    sequenceNumber?: string;
    deadLetter?: DeadLetter;
    /**
     * Bytes of the text in UTF-8. null: it is sealed, and its key is missing.
     */
    bodyBytes: number | null;
    /**
     * SHA-256 of the text in UTF-8, in hex. null likewise.
     */
    bodySha256: string | null;
    /**
     * Its attribute `eventType`. null: it has none, or it is not shown.
     */
    eventType: string | null;
    /**
     * One line of what it says, at most 120 characters, with invisible characters as escapes. null: it is not stored or not shown, or the key lacks the scope `bodies`.
     */
    line: string | null;
    /**
     * Only of a dead letter that is read by its id, and not without the scope `bodies`: what was published.
     */
    published?: {
        /**
         * The text as it was published, without an envelope.
         */
        message: string;
        /**
         * Attributes of the message by name; empty where it has none.
         */
        attributes: {
            [key: string]: {
                /**
                 * `String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.
                 */
                type: string;
                /**
                 * The value as text; base64 where the type is Binary.
                 */
                value: string;
            };
        };
    };
};

/**
 * Several messages for one queue.
 */
export type QueueMessageBatchInput = {
    /**
     * 1 to 100 messages, sent in this order.
     */
    messages: Array<QueueMessageInput>;
};

/**
 * One message for a queue.
 */
export type QueueMessageInput = {
    /**
     * Text of the message, of characters that XML 1.0 allows. The queue bounds its size.
     */
    body: string;
    attributes?: MessageAttributes;
    /**
     * How long the message is hidden first, up to 900. Default: the queue’s delay, which FIFO queues always use.
     */
    delaySeconds?: number;
    /**
     * Needed on FIFO queues, which keep order within it. In others, a group that takes too much of the consumers waits behind quieter groups. 1 to 128 visible ASCII characters.
     */
    groupId?: string;
    /**
     * FIFO queues only: the same id within 5 minutes is one message. Needed without contentBasedDeduplication.
     */
    deduplicationId?: string;
};

export type QueueMessageList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    messages: Array<QueueMessage>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * A receipt for a single message, or the receipts of a batch.
 */
export type QueueSendAnswer = QueueSendReceipt | QueueSendReceiptList;

/**
 * One message, or a batch under `messages`.
 */
export type QueueSendInput = QueueMessageInput | QueueMessageBatchInput;

/**
 * A message that is in the queue.
 */
export type QueueSendReceipt = {
    /**
     * Id of the message in this queue. A FIFO duplicate has the id of the first copy.
     */
    messageId: string;
    /**
     * FIFO only: 20 digits, rising with every message of the queue.
     */
    sequenceNumber?: string;
};

/**
 * The receipts of a batch.
 */
export type QueueSendReceiptList = {
    /**
     * One receipt per message, in the order of the request.
     */
    results: Array<QueueSendReceipt>;
};

/**
 * The bounds of a customer, and what the customer has.
 */
export type Quota = {
    /**
     * The quota is for topics whose names begin with this.
     */
    prefix: string;
    /**
     * Topics at most. null: no bound.
     */
    topics: number | null;
    /**
     * Subscriptions of all these topics at most. null: no bound.
     */
    subscriptions: number | null;
    /**
     * Approximate bytes of their messages at most. null: no bound.
     */
    storedBytes: number | null;
    /**
     * The numbers of what exists now.
     */
    used: {
        /**
         * Topics that exist now.
         */
        topics: number;
        /**
         * Their subscriptions, also pending ones. An unsubscribed one counts until it is removed.
         */
        subscriptions: number;
        /**
         * Approximate bytes of their messages, 2 to 15 s old.
         */
        storedBytes: number;
    };
};

export type QuotaList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    quotas: Array<Quota>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * Bounds of a customer. Those that are left out stay.
 */
export type QuotaSettings = {
    /**
     * Topics at most. null: no bound.
     */
    topics?: number | null;
    /**
     * Subscriptions of all these topics at most. null: no bound.
     */
    subscriptions?: number | null;
    /**
     * Approximate bytes of their messages at most: those that wait or are kept, and dead letters in the queues that the topics make. null: no bound.
     */
    storedBytes?: number | null;
};

/**
 * The checks that decide whether the process can do its work now.
 */
export type Readiness = {
    /**
     * `degraded`: it works, and an operator should look. `unavailable`: a check failed.
     */
    status: 'ready' | 'degraded' | 'unavailable';
    /**
     * Result of each check by its name: `ok`, or what is wrong. If keys are required: `failed`.
     */
    checks: {
        [key: string]: string;
    };
    /**
     * Why the status is `degraded`; else empty.
     */
    degraded: Array<{
        /**
         * eviction: Redis may drop messages. no_persistence: it keeps nothing over a restart. unseen: it does not say. disk: it could not write its files. storage_full: publishing is refused. replicas_missing: replicas of FANTAIL_MIN_REPLICAS do not follow, and publishing is refused. dispatch_behind: no worker has fetched a message for half a minute. archive_behind: archives were not written completely for a minute. redis_slow: a round trip to Redis takes long. modes_mixed: processes of both modes use this Redis.
         */
        reason: 'eviction' | 'no_persistence' | 'unseen' | 'disk' | 'storage_full' | 'replicas_missing' | 'dispatch_behind' | 'archive_behind' | 'redis_slow' | 'modes_mixed';
        /**
         * The reason in words, with what to do.
         */
        message: string;
    }>;
    /**
     * Release that the process runs, as in its package.json.
     */
    version: string;
    /**
     * Commit that the process runs; `unknown` where nothing says it.
     */
    commit: string;
    /**
     * When the process started, ISO 8601.
     */
    startedAt: string;
};

/**
 * How many messages to receive, and how long to wait for them.
 */
export type ReceiveInput = {
    /**
     * Messages to receive at most, 1 to 10. Default 1.
     */
    maxMessages?: number;
    /**
     * How long to wait for a first message, up to 20. Default: the queue’s receiveWaitSeconds.
     */
    waitSeconds?: number;
    /**
     * How long the received messages are hidden from others. Default: the queue’s own timeout.
     */
    visibilityTimeoutSeconds?: number;
};

/**
 * A message that was received.
 */
export type ReceivedMessage = {
    /**
     * Id of the message in this queue. It differs from the id that the publish answered.
     */
    messageId: string;
    /**
     * How often it has been received, this receive included.
     */
    receiveCount: number;
    /**
     * Text of the message; from a topic SNS’s envelope unless delivery is raw.
     */
    body: string;
    /**
     * Attributes of the message by name; empty where it has none.
     */
    attributes: {
        [key: string]: {
            /**
             * `String`, `Number`, `Binary` or `String.Array`, with or without a `.label`.
             */
            type: string;
            /**
             * The value as text; base64 where the type is Binary.
             */
            value: string;
        };
    };
    /**
     * When it came into this queue: ISO 8601 in UTC, with milliseconds.
     */
    sentAt: string;
    /**
     * Message group that it was sent with, if any.
     */
    groupId?: string;
    /**
     * FIFO only: the id given, or the SHA-256 of the body.
     */
    deduplicationId?: string;
    /**
     * FIFO only: 20 digits, rising with every message of the queue.
     */
    sequenceNumber?: string;
    deadLetter?: DeadLetter;
    /**
     * Names this receive: acknowledge the message or change its timeout with it.
     */
    receiptHandle: string;
};

export type ReceivedMessages = {
    /**
     * The received messages; empty where there were none.
     */
    messages: Array<ReceivedMessage>;
};

/**
 * A task that moves or removes messages of a queue.
 */
export type Redrive = {
    /**
     * Id of the task. Ended tasks are kept for 14 days.
     */
    id: string;
    /**
     * redrive: moves messages. purge: removes the dead letters that a filter matches. resend: sends kept messages again to a subscription.
     */
    action: 'redrive' | 'purge' | 'resend';
    /**
     * running and paused tasks are active. canceling: a last batch is under way. The others have ended.
     */
    status: 'running' | 'paused' | 'canceling' | 'canceled' | 'completed' | 'failed';
    /**
     * ARN of the queue that messages are moved out of. For a resend: ARN of the subscription that gets kept messages.
     */
    source: string;
    /**
     * ARN of the queue they go to; null: each back where it came from.
     */
    destination: string | null;
    /**
     * Messages that matched when the task was started. For a resend: messages that it looks at.
     */
    matched: number;
    /**
     * Messages moved or, by a purge, removed so far; they have left the source. For a resend: messages resent.
     */
    moved: number;
    /**
     * Messages that stay in the source because they are in flight, or because the place from which they came takes no more. For a resend: messages that the filter refuses, and messages that are no longer kept.
     */
    skipped: number;
    /**
     * How many of the moved messages their subscriptions have got by now.
     */
    delivered: number;
    /**
     * How many of them failed again and were dead-lettered again.
     */
    backInDlq: number;
    /**
     * How many of them ended otherwise: expired, purged, unsubscribed, or without a dead-letter queue.
     */
    discarded: number;
    /**
     * Messages that go first, and whose ends decide whether the others follow; null: none.
     */
    canary: number | null;
    /**
     * Why the task paused itself; absent while it did not. Resuming it moves the others.
     */
    pauseReason?: string;
    /**
     * Messages moved per second at most; null: no bound.
     */
    maxMessagesPerSecond: number | null;
    /**
     * When the task was started: ISO 8601 in UTC, with milliseconds.
     */
    startedAt: string;
    /**
     * When the task ended: ISO 8601 in UTC. null while it is active.
     */
    endedAt: string | null;
    /**
     * Why a failed task could not continue; absent without a failure.
     */
    error?: string;
};

/**
 * The messages that a redrive would move, counted. Nothing was changed.
 */
export type RedriveDryRun = {
    /**
     * Messages that a redrive would try to move now.
     */
    matched: number;
    /**
     * How many of them came from no subscription and no queue: without a destination they stay.
     */
    withoutOrigin: number;
    /**
     * Matching messages by the ARN of their subscription.
     */
    bySubscription: {
        [key: string]: number;
    };
    /**
     * Matching messages by the last HTTP status; `none` where there was no answer.
     */
    byStatusCode: {
        [key: string]: number;
    };
};

/**
 * A redrive to be started: messages, source and destination.
 */
export type RedriveInput = {
    /**
     * Queue to move messages out of, by its name or ARN.
     */
    source: string;
    /**
     * Queue to move them to, by its name or ARN. Default: each message goes back where it came from.
     */
    destination?: string | null;
    /**
     * Messages moved per second at most, up to 100,000. Default: as fast as it goes.
     */
    maxMessagesPerSecond?: number | null;
    /**
     * Which messages to move: all conditions must hold. Default: all messages.
     */
    filter?: {
        /**
         * Only dead letters of this subscription, by its id or ARN. A deleted one needs its ARN.
         */
        subscription?: string;
        /**
         * Only dead letters of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only dead letters that ended for this reason.
         */
        reason?: 'permanent' | 'retriesExhausted' | 'expired' | 'outcomeUnknown' | 'setAside';
        /**
         * Only dead letters whose last attempt failed with this code, such as `timeout`. `none`: it has no code.
         */
        error?: string;
        /**
         * Only dead letters that were dead-lettered at this time or later: ISO 8601 with an offset.
         */
        since?: string;
        /**
         * Only dead letters that were dead-lettered at this time or earlier: ISO 8601 with an offset.
         */
        until?: string;
        /**
         * Only dead letters whose last attempt got this HTTP status, 100 to 599. `none`: it got no answer.
         */
        statusCode?: number | 'none';
        /**
         * Only these messages, by the queue’s id or the published one: 1 to 1000.
         */
        messageIds?: Array<string>;
    };
    /**
     * The number of messages that are sent first, 1 to 100. If more than a fifth of them is not delivered within two minutes, the task pauses itself; otherwise it continues. Not with a destination.
     */
    canary?: number | null;
    /**
     * true: only count what would be moved, and answer 200. Default false.
     */
    dryRun?: boolean;
};

export type RedriveList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    redrives: Array<Redrive>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * A new rate of an active task.
 */
export type RedriveRateInput = {
    /**
     * Messages moved per second at most from now on, up to 100,000; null: no bound.
     */
    maxMessagesPerSecond: number | null;
};

/**
 * The delivery waits in the lane of its subscription.
 */
export type Resend = {
    /**
     * Id of the message; it stays the same.
     */
    messageId: string;
    /**
     * Id of the subscription that gets it again.
     */
    subscriptionId: string;
};

/**
 * The messages that a resend would look at, counted. Nothing was changed.
 */
export type ResendDryRun = {
    /**
     * Messages kept since then. Those that the filter refuses, that are later than `until`, or that `failedOnly` leaves out count too.
     */
    matched: number;
};

/**
 * A delivery to be made again.
 */
export type ResendInput = {
    /**
     * Subscription of the message’s topic that gets it again, by its id or ARN. Its filter is not asked.
     */
    subscription: string;
};

/**
 * Messages to be sent again to a subscription.
 */
export type ResendSinceInput = {
    /**
     * Messages that were published at this time or later: ISO 8601 with an offset.
     */
    since: string;
    /**
     * Messages that were published at this time or earlier: ISO 8601 with an offset. Default: all that are kept now.
     */
    until?: string;
    /**
     * true: only messages whose latest delivery to the subscription was dead-lettered, discarded or expired, as far as the outcome log knows. Default false: delivered ones too.
     */
    failedOnly?: boolean;
    /**
     * Messages a second at most. Default 100; null: as fast as it goes.
     */
    maxMessagesPerSecond?: number | null;
    /**
     * true: only count the kept messages, and answer 200. Default false.
     */
    dryRun?: boolean;
};

/**
 * A status like 404, or a class of statuses like `5xx`.
 */
export type RetriedStatus = number | string;

/**
 * How fast to retry what waits.
 */
export type RetryNowInput = {
    /**
     * The most attempts per second, so that they are spread out. Default: all are due at once.
     */
    maxPerSecond?: number;
};

export type RetryNowResult = {
    /**
     * Deliveries whose next attempt now comes earlier.
     */
    moved: number;
};

/**
 * The nominal times of all retries under a policy.
 */
export type RetryPreview = {
    /**
     * Every retry of a delivery that keeps failing, in order.
     */
    retries: Array<{
        /**
         * Number of the retry; the first one after the first attempt is 1.
         */
        retry: number;
        /**
         * Which of the four phases the retry belongs to.
         */
        phase: 'immediate' | 'preBackoff' | 'backoff' | 'postBackoff';
        /**
         * Nominal wait before this retry, from the end of the attempt before.
         */
        delaySeconds: number;
        /**
         * Sum of the delays so far: seconds after the first attempt.
         */
        atSeconds: number;
    }>;
    /**
     * Sum of all delays in seconds; the retry policy’s bound applies to it.
     */
    totalSeconds: number;
    /**
     * How long the topic keeps messages. Without a topic: the default of topics.
     */
    retentionSeconds: number;
    /**
     * true: the topic’s retention ends before the last retry, and the delivery with it.
     */
    retentionEndsFirst: boolean;
    /**
     * Share by which each delay varies at random: 0.1 means 0.9 to 1.1 times the nominal delay.
     */
    jitter: number;
    /**
     * The named curves. They are the same in every answer.
     */
    presets: Array<{
        /**
         * Name for `preset` of a retry policy.
         */
        name: string;
        /**
         * How long it lasts, and what it is for.
         */
        description: string;
        /**
         * The numbers that it sets.
         */
        healthyRetryPolicy: {
            /**
             * Delay in seconds of pre-backoff retries and of the first backoff retry.
             */
            minDelayTarget: number;
            /**
             * Delay in seconds of the last backoff retry and of post-backoff retries; at least minDelayTarget.
             */
            maxDelayTarget: number;
            /**
             * Retries over all four phases. Retries that belong to no other phase are backoff retries.
             */
            numRetries: number;
            /**
             * Retries of the first phase, without any delay. Default 0.
             */
            numNoDelayRetries: number;
            /**
             * Retries of the second phase, minDelayTarget apart (pre-backoff). Default 0.
             */
            numMinDelayRetries: number;
            /**
             * Retries of the last phase, maxDelayTarget apart (post-backoff). Default 0.
             */
            numMaxDelayRetries: number;
            /**
             * How delays rise from minDelayTarget to maxDelayTarget in the third phase. Default linear.
             */
            backoffFunction: 'linear' | 'arithmetic' | 'geometric' | 'exponential';
        };
        /**
         * Sum of its delays in seconds.
         */
        totalSeconds: number;
    }>;
};

/**
 * A policy to try, as a subscription would have it.
 */
export type RetryPreviewInput = {
    /**
     * Retries, throttle and content type of attempts at webhooks. It replaces the policy as a whole; null removes it.
     */
    deliveryPolicy: DeliveryPolicyInput | null;
    /**
     * A topic by name or ARN. Its policy fills the groups that are left out; without it the system’s does.
     */
    topic?: string;
};

/**
 * A message that a search found.
 */
export type SearchedMessage = {
    /**
     * Id of the message, as publishing answered it.
     */
    messageId: string;
    /**
     * ARN of its topic. null: the topic was deleted.
     */
    topicArn: string | null;
    /**
     * When it was published: ISO 8601 in UTC, with milliseconds.
     */
    publishedAt: string;
    /**
     * Bytes of its text and attributes together. null: not in what was read.
     */
    sizeBytes: number | null;
    /**
     * When the newest entry that was found was logged: ISO 8601 in UTC, with milliseconds.
     */
    at: string;
    /**
     * Deliveries that the search found, by state. A delivery that was parked and has ended counts twice.
     */
    counts: {
        /**
         * Deliveries that their endpoint accepted.
         */
        delivered: number;
        /**
         * Deliveries that went to a lane to wait. They may have ended since.
         */
        parked: number;
        /**
         * Subscriptions whose filter policy kept the message back.
         */
        filtered: number;
        /**
         * Deliveries that ended in a dead-letter queue.
         */
        deadLettered: number;
        /**
         * Deliveries that ended in no queue.
         */
        discarded: number;
        /**
         * Deliveries that ended because the message got too old.
         */
        expired: number;
    };
    /**
     * The newest ends after a wait in a lane, at most ten, newest first.
     */
    ends: Array<{
        /**
         * Id of the subscription. null: the message ended as a whole.
         */
        subscriptionId: string | null;
        /**
         * How the delivery ended.
         */
        outcome: 'delivered' | 'deadLettered' | 'discarded' | 'expired';
        /**
         * When its end was logged: ISO 8601 in UTC, with milliseconds.
         */
        endedAt: string;
        /**
         * Attempts made until then, the first one included.
         */
        attempts: number;
        /**
         * HTTP status of the last answer; null: there was none.
         */
        statusCode: number | null;
        /**
         * How the last attempt failed without an answer, as a code; null otherwise.
         */
        error: string | null;
        /**
         * The reason of an end without delivery; null otherwise.
         */
        reason: string | null;
        /**
         * How often it was brought back from a dead-letter queue before.
         */
        redrives: number;
    }>;
    /**
     * Its attribute `eventType`. null: it has none, or it is not shown.
     */
    eventType: string | null;
    /**
     * One line of what it says, at most 120 characters, with invisible characters as escapes. null: it is not stored or not shown, or the key lacks the scope `bodies`.
     */
    line: string | null;
};

/**
 * The processes of Fantail that run now.
 */
export type ServiceList = {
    /**
     * When the list was read, by the clock of Redis: ISO 8601 in UTC, with milliseconds.
     */
    at: string;
    /**
     * Sorted by role and start.
     */
    processes: Array<{
        /**
         * Id of the process. A process that is started again has another one.
         */
        id: string;
        /**
         * The service: `publish-api`, `delivery-worker` or `redrive`.
         */
        role: string;
        /**
         * Mode of the process. All processes on one Redis should have the same.
         */
        mode: 'local' | 'server';
        /**
         * Release that the process runs, as in its package.json.
         */
        version: string;
        /**
         * Commit that the process runs; `unknown` where nothing says it.
         */
        commit: string;
        /**
         * Name of the machine or container.
         */
        host: string;
        /**
         * Number of the process on its machine.
         */
        pid: number;
        /**
         * When the process started: ISO 8601 in UTC, with milliseconds.
         */
        startedAt: string;
        /**
         * When the process reported last. It reports every ten seconds: ISO 8601 in UTC, with milliseconds.
         */
        lastSeenAt: string;
        /**
         * Slots for attempts. null: the service makes no attempts.
         */
        slots: {
            /**
             * How many attempts are under way now.
             */
            used: number;
            /**
             * Attempts that may be under way at a time.
             */
            max: number;
        } | null;
        /**
         * Share of the last ten seconds in which the process was busy, from 0 to 1.
         */
        load: number;
        /**
         * How late timers of the process were in the last ten seconds: the 99th percentile, in ms.
         */
        lagMs: number;
        /**
         * The newest format of the data that the process reads.
         */
        format: number;
        /**
         * Capabilities that the process knows, in effect or not.
         */
        capabilities: Array<string>;
    }>;
    /**
     * Format of the data in Redis. A process that does not know it ends. null: it cannot be read.
     */
    data: {
        /**
         * Number that every release knows the data by; it only grows.
         */
        format: number;
        /**
         * Capabilities that are in effect.
         */
        capabilities: Array<string>;
    } | null;
};

/**
 * The caller, and the session if there is one.
 */
export type Session = {
    /**
     * false: this server asks for no keys, and needs no login.
     */
    keysRequired: boolean;
    /**
     * Sent as `X-Fantail-CSRF` with every request of the session. null: there is no session.
     */
    csrfToken: string | null;
    /**
     * The key that the caller acts with; null: no key is required.
     */
    key: {
        /**
         * Id of the key, no secret.
         */
        id: string;
        /**
         * Account that the key acts for, 12 digits.
         */
        account: string;
        /**
         * Everything the key may do.
         */
        scopes: Array<'publish' | 'read' | 'manage' | 'redrive' | 'consume' | 'sms' | 'bodies'>;
        /**
         * Beginnings of the names of topics and queues it is bound to; empty: all names.
         */
        prefixes: Array<string>;
    } | null;
    /**
     * When the session ends at the latest: ISO 8601 in UTC. It ends sooner after an hour without a request. null: there is no session.
     */
    endsAt: string | null;
    /**
     * The server, as far as every caller may know it.
     */
    server: {
        /**
         * Partition of names without an ARN.
         */
        partition: string;
        /**
         * Region of names without an ARN (`FANTAIL_REGION`).
         */
        region: string;
        /**
         * Account of names without an ARN (`FANTAIL_ACCOUNT`).
         */
        account: string;
        /**
         * Whether it can seal messages and keep secrets.
         */
        hasMasterKey: boolean;
        /**
         * Whether topics can have archives.
         */
        hasArchives: boolean;
    };
};

/**
 * Sessions of the caller’s account.
 */
export type SessionList = {
    /**
     * Sessions that have not ended. The session that ends last comes first.
     */
    sessions: Array<{
        /**
         * Id of the session: a digest of its token, no secret.
         */
        id: string;
        /**
         * The place where the session is used: console or portal.
         */
        kind: 'console' | 'portal';
        /**
         * Id of the key that it acts with, or that made its link.
         */
        keyId: string;
        /**
         * Id of the portal link, as in audit lines; null: no portal.
         */
        portal: string | null;
        /**
         * Prefixes of topics, or ids of subscriptions, of a portal session; else empty.
         */
        bounds: Array<string>;
        /**
         * When the session began: ISO 8601 in UTC, with milliseconds.
         */
        createdAt: string;
        /**
         * When it was used last, to the minute, ISO 8601 in UTC; null: unknown, as in the portal.
         */
        lastUsedAt: string | null;
        /**
         * When the session ends at the latest: ISO 8601 in UTC, with milliseconds.
         */
        endsAt: string;
        /**
         * Whether it is the session of the caller.
         */
        current: boolean;
    }>;
};

/**
 * The message to set aside.
 */
export type SetAsideInput = {
    /**
     * Id of the message, as its publisher got it.
     */
    messageId: string;
};

export type SetAsideResult = {
    /**
     * Id of the message that goes to the queue.
     */
    messageId: string;
    /**
     * ARN of the dead-letter queue to which it goes.
     */
    queueArn: string;
};

/**
 * Settings of text messages, and what was spent.
 */
export type Sms = {
    /**
     * Bound of the cost of a month’s messages (UTC).
     */
    monthlySpendLimitUsd: number;
    /**
     * Cost of this day’s messages (UTC), by the prices of the settings.
     */
    spentTodayUsd: number;
    /**
     * Cost of this month’s messages (UTC).
     */
    spentThisMonthUsd: number;
    /**
     * Sender of messages that name none; null: none is set.
     */
    defaultSenderId: string | null;
    /**
     * Type of messages that name none.
     */
    defaultSmsType: 'Promotional' | 'Transactional';
};

/**
 * Settings of text messages to be changed; others stay.
 */
export type SmsChanges = {
    /**
     * Bound of the cost of a month’s messages; at most FANTAIL_SMS_MONTH_USD.
     */
    monthlySpendLimitUsd?: number;
    /**
     * Sender of messages without `AWS.SNS.SMS.SenderID`: 1 to 11 letters and digits, with a letter.
     */
    defaultSenderId?: string;
    /**
     * Type of messages without `AWS.SNS.SMS.SMSType`. The provider’s template may pass it on.
     */
    defaultSmsType?: 'Promotional' | 'Transactional';
};

/**
 * Counts and times over a range, one entry per step.
 */
export type Stats = {
    /**
     * The range that was asked for.
     */
    range: '15m' | '1h' | '6h' | '24h' | '7d' | '30d';
    /**
     * Length of a step: 60 or 3600 seconds.
     */
    stepSeconds: number;
    /**
     * false: more topics or subscriptions count than statistics are kept for, and this is not one of those. The lists are empty then.
     */
    kept: boolean;
    /**
     * false: the key may see more topics than one answer sums up. Those that counted latest are in it.
     */
    complete: boolean;
    /**
     * When each step began, oldest first. All lists have one entry per step. The last is under way.
     */
    at: Array<string>;
    /**
     * Messages accepted, in each step. null: of a subscription, as messages are published to topics.
     */
    published: Array<number> | null;
    /**
     * Deliveries that their endpoint accepted, in each step.
     */
    delivered: Array<number>;
    /**
     * Failed attempts of http and https, retries included; of other kinds, deliveries that failed permanently, in each step.
     */
    failed: Array<number>;
    /**
     * Deliveries stored in a dead-letter queue, in each step.
     */
    deadLettered: Array<number>;
    /**
     * Time from publishing to arrival that half of the deliveries did not exceed, at most 10 % off, in ms. null: none arrived in this step.
     */
    p50Ms: Array<number | null>;
    /**
     * Time from publishing to arrival that 99 % of the deliveries did not exceed, at most 10 % off, in ms. null: none arrived in this step.
     */
    p99Ms: Array<number | null>;
};

/**
 * A subscription: where a topic’s messages go, and how.
 */
export type Subscription = {
    /**
     * Id of the subscription: a UUID, which stays for its life.
     */
    id: string;
    /**
     * Amazon resource name: the topic’s ARN, a colon and the id.
     */
    arn: string;
    /**
     * ARN of the topic whose messages it gets.
     */
    topicArn: string;
    /**
     * How it is delivered to: `http` and `https` webhooks, an `sqs` queue, a `lambda` function, a `firehose` stream, mail (`email`, `email-json`), text messages (`sms`), or mobile push (`application`).
     */
    protocol: 'http' | 'https' | 'sqs' | 'lambda' | 'firehose' | 'email' | 'email-json' | 'sms' | 'application';
    /**
     * URL, ARN, mail address or phone number that is delivered to; a password in it is masked.
     */
    endpoint: string;
    /**
     * The endpoint to which it moves once that endpoint has confirmed; a password is masked. null: nowhere.
     */
    pendingEndpoint: string | null;
    /**
     * Name for people; null: none.
     */
    name: string | null;
    /**
     * The caller’s own words about it by key; empty where there are none.
     */
    metadata: {
        [key: string]: string;
    };
    /**
     * native: as made over this API. aws: as made over an AWS protocol, so that webhooks get requests in the form of SNS: its content type, user agent and headers. After a 410 a delivery has failed, and without a redrive policy it is discarded.
     */
    origin: 'native' | 'aws';
    /**
     * pending: waits for its confirmation; active: gets messages; paused: messages are kept for it.
     */
    status: 'pending' | 'active' | 'paused';
    /**
     * Why Fantail itself paused it. gone: the endpoint answered 410. failing: it had failed for the topic’s `disableAfterDays`. A resume ends the pause. null: Fantail did not.
     */
    pausedBecause: 'gone' | 'failing' | null;
    /**
     * After a 410 (Gone) of the endpoint. pause: the subscription is paused, and its messages wait. deadLetter: the delivery has failed permanently. null: not a webhook.
     */
    onGone: 'pause' | 'deadLetter' | null;
    /**
     * Whether the signatures of webhook keys are also sent as `svix-id`, `svix-timestamp` and `svix-signature`.
     */
    svixHeaders: boolean;
    /**
     * Whether the bare message is delivered instead of SNS’s JSON envelope.
     */
    rawMessageDelivery: boolean;
    /**
     * The policy set on the subscription itself; null: none.
     */
    deliveryPolicy: DeliveryPolicy | null;
    effectiveDeliveryPolicy: EffectiveDeliveryPolicy;
    /**
     * The rate that a customer has set in the portal, in requests a second. The lower one of it and the throttle holds. null: none.
     */
    customerRate: number | null;
    /**
     * The queue for deliveries that failed permanently. `{}`: to the topic’s own queue. null: they are discarded and counted.
     */
    redrivePolicy: {
        /**
         * ARN of the dead-letter queue that takes them.
         */
        deadLetterTargetArn?: string;
    } | null;
    /**
     * The fate of a delivery that keeps failing with a retried status, in words: how many attempts, for how long, and where it goes. A delivery that is refused permanently goes there after that attempt.
     */
    onFailure: string;
    /**
     * Which messages it gets, in SNS’s filter language; null: all.
     */
    filterPolicy: {
        [key: string]: unknown;
    } | null;
    /**
     * Whether the filter looks at attributes or at the message as JSON.
     */
    filterPolicyScope: 'MessageAttributes' | 'MessageBody';
    /**
     * Which event types it gets, in addition to what its filter policy asks: names, `order.*` for every type below `order.`, or `*` for every message with a type. null: all messages.
     */
    eventTypes: Array<string> | null;
    /**
     * Attempts at a time per worker, at most.
     */
    maxInFlight: number;
    /**
     * policy: retries follow the retry policy alone. standard: they also draw on a quota. adaptive: and the rate of attempts falls and recovers with the endpoint.
     */
    retryMode: 'policy' | 'standard' | 'adaptive';
    /**
     * Stops attempts at a dead endpoint; null: there is none.
     */
    circuitBreaker: {
        /**
         * Failures in a row that open the circuit.
         */
        failures: number;
        /**
         * Seconds between two attempts while the circuit is open.
         */
        probeSeconds: number;
    } | null;
    /**
     * Bounds the rate of attempts for each message group, over all workers, in addition to the throttle of the whole subscription. null: there is none.
     */
    groupThrottle: {
        /**
         * The rate of each group without an override; null: no bound.
         */
        maxReceivesPerSecond?: number | null;
        /**
         * Rates of single groups.
         */
        overrides?: {
            [key: string]: number;
        };
    } | null;
    /**
     * How the endpoint is reached beyond its URL; null: plainly.
     */
    outbound: {
        /**
         * URL of the proxy, its password masked; null: direct connections.
         */
        proxy: string | null;
        /**
         * Certificate shown to an endpoint that asks for one (mTLS); null: none.
         */
        clientCertificate: {
            /**
             * PEM, the whole chain, without the private key.
             */
            certificate: string;
        } | null;
        /**
         * Certificates in PEM that are trusted in addition to the system’s. null: only the system’s.
         */
        ca: string | null;
        /**
         * Names of the headers sent with every request, without their values.
         */
        headers: Array<string>;
        /**
         * How access tokens are asked for, without the secret; null: none are.
         */
        oauth: {
            /**
             * `http(s)` URL that answers with access tokens, without user and password.
             */
            tokenUrl: string;
            /**
             * Id of the client, as the token server knows it.
             */
            clientId: string;
            /**
             * Scopes that are asked for; null: none.
             */
            scope: string | null;
            /**
             * Audience that is asked for; null: none.
             */
            audience: string | null;
        } | null;
    } | null;
    /**
     * Attributes of the AWS API that have no member here, as texts.
     */
    attributes: {
        [key: string]: string;
    };
    /**
     * Whether the endpoint has to confirm before it gets messages.
     */
    confirmation: 'none' | 'handshake';
    /**
     * When a pending subscription is removed, or a move is given up, unless confirmed: ISO 8601 in UTC. null: nothing is pending.
     */
    confirmationExpiresAt: string | null;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
    /**
     * The state of the deliveries of this subscription now.
     */
    lane: {
        /**
         * Deliveries that wait for an attempt.
         */
        waiting: number;
        /**
         * Deliveries whose attempt is under way.
         */
        inFlight: number;
        /**
         * Seconds since the oldest waiting message was published; null: nothing waits.
         */
        oldestWaitingSeconds: number | null;
        /**
         * When the next attempt comes at the earliest: ISO 8601 in UTC. null: none is planned.
         */
        nextAttemptAt: string | null;
        /**
         * Seconds until what waits is delivered, if nothing is added: waiting × attempts per success ÷ attempts per second, both observed in the last minute. null: `drainUnknown` says why.
         */
        drainSeconds: number | null;
        /**
         * Seconds until what waits is delivered or given up, if as many attempts fail as in the last minute. An upper estimate. null: nothing was attempted, or the subscription is paused.
         */
        drainSecondsAtFailureRate: number | null;
        /**
         * Why `drainSeconds` is null. paused: the subscription is paused. nothingAttempted: no attempt ended in the last minute. nothingSucceeds: none of them succeeded, or the endpoint has begun to fail. It has if the last failure is more than 5 s later than the last success, and more than three requests of a throttle. null: it is known.
         */
        drainUnknown: 'paused' | 'nothingAttempted' | 'nothingSucceeds' | null;
        /**
         * Attempts per second, the lower of the throttle and the adaptive rate; null without both.
         */
        rate: number | null;
        /**
         * The last failed attempt. If `lastSuccessAt` is later, the trouble is over. null: none has failed.
         */
        lastFailure: {
            /**
             * When that attempt ended: ISO 8601 in UTC.
             */
            at: string;
            /**
             * HTTP status of the answer; null: there was none.
             */
            statusCode: number | null;
            /**
             * How it failed without an answer, as a code: `timeout`, `connection_refused`, …; null: there was one.
             */
            error: string | null;
        } | null;
        /**
         * When the endpoint last accepted a delivery, at most a few seconds behind: ISO 8601 in UTC. null: it never has.
         */
        lastSuccessAt: string | null;
        /**
         * Rest of the retry quota, which is 500 when full; null where retryMode is policy.
         */
        retryQuota: number | null;
        /**
         * open: attempts are stopped but for probes. null without a circuit breaker.
         */
        circuit: 'closed' | 'open' | null;
        /**
         * dlqMissing: dead deliveries wait because the dead-letter queue does not exist. misconfigured: the service’s own configuration keeps its attempts from the endpoint, or it lacks the key of sealed messages. noToken: its token server cannot be reached or refuses a token. null: neither.
         */
        waitsFor: 'dlqMissing' | 'misconfigured' | 'noToken' | null;
        /**
         * When the open circuit, or a broken credential, is probed next: ISO 8601 in UTC. null: no probe is due.
         */
        nextProbeAt: string | null;
    };
    verdict: Verdict;
    /**
     * Only after a change: something that you may not have meant, such as unknown event types.
     */
    warning?: string;
};

/**
 * Settings of a subscription. Members that are left out stay as they are; null resets one.
 */
export type SubscriptionInput = {
    /**
     * Moves the subscription to this endpoint of the same protocol. Id, settings and what waits stay. Goes with `outbound` alone.
     */
    endpoint?: string;
    /**
     * Name for people, up to 100 characters; it need not be unique. Default: none.
     */
    name?: string | null;
    /**
     * Your own words about it, up to 20 texts by key. A change replaces all of them. Default: none.
     */
    metadata?: {
        [key: string]: string;
    } | null;
    /**
     * Retries, throttle and content type of attempts at webhooks. It replaces the policy as a whole; null removes it.
     */
    deliveryPolicy?: DeliveryPolicyInput | null;
    /**
     * true: the bare message is delivered instead of SNS’s JSON envelope. Default false.
     */
    rawMessageDelivery?: boolean | null;
    /**
     * The queue for deliveries that failed permanently. `{}`, the default of a new one: to the topic’s own dead-letter queue, which the first of them makes. null: they are discarded and counted.
     */
    redrivePolicy?: {
        /**
         * The dead-letter queue, by its name or ARN. It must exist, unless createQueue is true. Default: the topic’s own.
         */
        deadLetterTargetArn?: string;
        /**
         * true: the dead-letter queue is made if there is none. Default false.
         */
        createQueue?: boolean;
    } | null;
    /**
     * Which messages it gets, in SNS’s filter language: per key a list of alternatives. Default: all.
     */
    filterPolicy?: {
        [key: string]: unknown;
    } | null;
    /**
     * Whether the filter looks at attributes or at the message as JSON. Default MessageAttributes.
     */
    filterPolicyScope?: 'MessageAttributes' | 'MessageBody' | null;
    /**
     * Which event types it gets, in addition to what its filter policy asks: names, `order.*` for every type below `order.`, or `*` for every message with a type. At most 50. Default: all messages.
     */
    eventTypes?: Array<string> | null;
    /**
     * Attempts at a time per worker, at most. Default 32.
     */
    maxInFlight?: number | null;
    /**
     * policy: retries follow the retry policy alone. standard: they also draw on a quota. adaptive: and the rate of attempts falls and recovers with the endpoint. Webhooks only. Default policy.
     */
    retryMode?: 'policy' | 'standard' | 'adaptive' | null;
    /**
     * Stops attempts at a dead endpoint and probes from time to time whether it is back. Webhooks only. Default none.
     */
    circuitBreaker?: {
        /**
         * Failures in a row that open the circuit. Default 10.
         */
        failures?: number;
        /**
         * Seconds between two attempts while the circuit is open. Default 30.
         */
        probeSeconds?: number;
    } | null;
    /**
     * Bounds the rate of attempts for each message group, over all workers, in addition to the throttle of the whole subscription. Webhooks only. Default none.
     */
    groupThrottle?: {
        /**
         * The most attempts per second for each message group without an override. Default: no bound.
         */
        maxReceivesPerSecond?: number | null;
        /**
         * Rates of single groups, at most 100.
         */
        overrides?: {
            [key: string]: number;
        };
    } | null;
    /**
     * After a 410 (Gone) of the endpoint. pause: the subscription is paused, and its messages wait. deadLetter: the delivery has failed permanently. Webhooks only. Default pause, or deadLetter if an AWS protocol made the subscription.
     */
    onGone?: 'pause' | 'deadLetter' | null;
    /**
     * Whether the signatures of webhook keys are also sent as `svix-id`, `svix-timestamp` and `svix-signature`. Webhooks only. Default false.
     */
    svixHeaders?: boolean | null;
    /**
     * How the endpoint is reached beyond its URL: proxy, certificates, headers. Webhooks only. Default: plainly.
     */
    outbound?: {
        /**
         * `http(s)://[user:password@]host:port`. Every connection is a CONNECT tunnel through it.
         */
        proxy?: string | null;
        /**
         * Certificate and key shown to an endpoint that asks for a client certificate (mTLS).
         */
        clientCertificate?: {
            /**
             * PEM, the whole chain, the client’s own certificate first.
             */
            certificate: string;
            /**
             * PEM without a passphrase, of the first certificate. It is never shown again.
             */
            privateKey: string;
        } | null;
        /**
         * Certificates in PEM that are trusted in addition to the system’s authorities.
         */
        ca?: string | null;
        /**
         * Headers sent with every request, at most 20 and 8,192 bytes together. The values are never shown again. `User-Agent` replaces the usual one.
         */
        headers?: {
            [key: string]: string;
        } | null;
        /**
         * Each request carries a bearer token by OAuth 2 client credentials (RFC 6749 §4.4). Subscriptions only.
         */
        oauth?: {
            /**
             * `http(s)` URL that answers with access tokens, without user and password.
             */
            tokenUrl: string;
            /**
             * Id of the client, as the token server knows it.
             */
            clientId: string;
            /**
             * Secret of the client. It is never shown again.
             */
            clientSecret: string;
            /**
             * Scopes to ask for, separated by spaces.
             */
            scope?: string;
            /**
             * Audience to ask for, where the token server wants one.
             */
            audience?: string;
        } | null;
    } | null;
    /**
     * Attributes of the AWS API without a member here, as texts: `SubscriptionRoleArn`. A change replaces all of them. Default: none.
     */
    attributes?: {
        [key: string]: string;
    } | null;
};

export type SubscriptionList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    subscriptions: Array<Subscription>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * An address that gets no mail.
 */
export type Suppression = {
    /**
     * The address, in lower case.
     */
    address: string;
    /**
     * bounce: its server does not know the address. complaint: its reader called a mail unwanted. manual: an operator wants it so.
     */
    reason: 'bounce' | 'complaint' | 'manual';
    /**
     * Words of the mail server or of the operator; may be empty.
     */
    detail: string;
    /**
     * When it was put on the list: ISO 8601 in UTC, with milliseconds.
     */
    suppressedAt: string;
};

export type SuppressionList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    suppressions: Array<Suppression>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * Result of a single attempt.
 */
export type TestAttempt = {
    /**
     * HTTP status that the endpoint answered; null: it answered nothing.
     */
    statusCode: number | null;
    /**
     * How long the attempt took, in whole milliseconds.
     */
    durationMs: number;
    /**
     * Why there was no answer: a code, a colon and what happened.
     */
    error?: string;
    /**
     * Stage at which it failed without a whole answer; null: an answer came, or unknown.
     */
    stage: 'dns' | 'connect' | 'proxy' | 'tls' | 'answer' | 'body' | null;
    /**
     * withheld: the key lacks the scope `bodies`, so both bodies are null.
     */
    bodies: 'shown' | 'withheld';
    /**
     * The request as it was sent, with secrets masked.
     */
    request: {
        /**
         * HTTP method; null: the kind of endpoint gets no HTTP request.
         */
        method: string | null;
        /**
         * Address of the request, or the endpoint; without credentials.
         */
        url: string;
        /**
         * Headers by name. Headers of the subscription’s own settings and credentials show `***`.
         */
        headers: {
            [key: string]: string;
        };
        /**
         * The first 64 KiB of the body. null: the kind does not show it, or the key lacks `bodies`.
         */
        body: string | null;
        /**
         * Bytes of the whole body; null: not known.
         */
        bodyBytes: number | null;
        /**
         * Whether the request was written to a connection; null: the kind gets no HTTP request.
         */
        sent: boolean | null;
    };
    /**
     * The answer; null: none came, or the kind does not show it.
     */
    answer: {
        /**
         * Harmless headers of the answer, cut to 200 characters each.
         */
        headers: {
            [key: string]: string;
        };
        /**
         * The first 4 KiB of the body as text; null: `bodyWithheld` says why.
         */
        body: string | null;
        /**
         * Why the body is not shown. scope: the key lacks `bodies`. address: in server mode it must come from a public address, without a proxy.
         */
        bodyWithheld: 'scope' | 'address' | null;
    } | null;
    /**
     * Times of the parts of the attempt, as far as the kind has them.
     */
    timings: {
        /**
         * Whether the connection was open before. It then has no times of its own.
         */
        connectionReused: boolean;
        /**
         * Milliseconds of the name look-up; null: there was none.
         */
        dnsMs: number | null;
        /**
         * Milliseconds to open the connection, or that of a proxy; null: there was none.
         */
        connectMs: number | null;
        /**
         * Milliseconds of the TLS handshake; null: there was none.
         */
        tlsMs: number | null;
        /**
         * Milliseconds from the request to the first byte of the answer; null: there was none.
         */
        firstByteMs: number | null;
        /**
         * Milliseconds of the whole attempt.
         */
        totalMs: number;
    };
};

/**
 * The message of a test delivery.
 */
export type TestInput = {
    /**
     * The content to send: text as it is, an object or array as its JSON text. Default: a JSON object that says that it is a test.
     */
    message?: unknown;
    /**
     * A short line for people, in envelopes only: 1 to 99 characters without line breaks.
     */
    subject?: string;
    attributes?: MessageAttributes;
};

/**
 * A topic: what is published to it goes to each of its subscriptions.
 */
export type Topic = {
    /**
     * Name of the topic; FIFO topics end in `.fifo`.
     */
    name: string;
    /**
     * Amazon resource name: `arn:aws:sns:<region>:<account>:<name>`.
     */
    arn: string;
    /**
     * Name for people; empty where nothing is set.
     */
    displayName: string;
    /**
     * The policy set on the topic itself; null: none.
     */
    deliveryPolicy: DeliveryPolicy | null;
    /**
     * The policy in force for subscriptions without one of their own.
     */
    effectiveDeliveryPolicy: EffectiveDeliveryPolicy;
    /**
     * Whether the topic’s delivery policy replaces those of its subscriptions.
     */
    disableSubscriptionOverrides: boolean;
    /**
     * Deliveries of messages older than this expire, those to queues after 30 days.
     */
    retentionSeconds: number;
    /**
     * How many of the latest messages are kept, to read and resend them; null: none.
     */
    keepMessages: {
        /**
         * How long a message is kept: 1 to 2592000 s (30 days).
         */
        seconds: number;
        /**
         * Memory of Redis that the messages may fill. Past it the oldest go, in time or not.
         */
        bytes: number;
    } | null;
    /**
     * How long every message is archived outside of Redis; null: none is.
     */
    archive: {
        /**
         * How long the archive has a message: 1 to 365 days.
         */
        days: number;
        /**
         * Bytes that the compressed messages may fill. Past it the oldest go, in time or not. Default: no bound.
         */
        bytes?: number;
        /**
         * While the place of archives cannot be reached, messages wait in Redis. refuse: all of them wait, and publishing is refused when memory is short. dropOldest: the oldest of them are lost then. Default refuse.
         */
        whenFull?: 'refuse' | 'dropOldest';
    } | null;
    /**
     * The archive’s figures. Only the answer for a single topic has them.
     */
    archived?: {
        /**
         * When the archive began: ISO 8601 in UTC, with milliseconds.
         */
        since: string;
        /**
         * How many messages its blocks have.
         */
        messages: number;
        /**
         * Size of all its blocks together.
         */
        bytes: number;
        /**
         * Messages that were lost because memory was short (`dropOldest`), or because a key was damaged.
         */
        dropped: number;
    };
    /**
     * The topic gets notices about topics whose names begin with this text, and about their endpoints; an empty text: about everything. null: it gets none.
     */
    notices: string | null;
    /**
     * A subscription is paused when its endpoint has accepted nothing for this many days and still fails. null: never.
     */
    disableAfterDays: number | null;
    /**
     * sns: envelopes carry a signature as Amazon SNS makes it. none: they carry none.
     */
    signing: 'none' | 'sns';
    /**
     * Which attempts are recorded: the setting of the topic, or the default.
     */
    recordAttempts: 'none' | 'failures' | 'all';
    /**
     * Whether a message must fit the catalogue of event types: its type must be known, and its content fit the schema. warn: it is accepted, and the answer says what is wrong. refuse: it is not accepted.
     */
    eventTypeCheck: 'off' | 'warn' | 'refuse';
    /**
     * Whether messages are stored sealed: their content is encrypted in Redis, from the publish to the end of each delivery.
     */
    sealMessages: boolean;
    /**
     * Whether messages keep their order within a group.
     */
    fifo: boolean;
    /**
     * FIFO only: whether a message without deduplicationId gets the SHA-256 of its text.
     */
    contentBasedDeduplication?: boolean;
    /**
     * FIFO only: whether a deduplicationId is unique in the topic or in its message group. null: in the topic.
     */
    fifoThroughputScope: 'Topic' | 'MessageGroup' | null;
    /**
     * Tags by their keys; empty: there are none.
     */
    tags: {
        [key: string]: string;
    };
    /**
     * Attributes of the AWS API that have no member here, as texts.
     */
    attributes: {
        [key: string]: string;
    };
    /**
     * How many subscriptions the topic has, by status.
     */
    subscriptions: {
        /**
         * Subscriptions that get messages now.
         */
        active: number;
        /**
         * Subscriptions that wait for their confirmation.
         */
        pending: number;
        /**
         * Subscriptions whose messages are kept and not attempted.
         */
        paused: number;
    };
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
};

/**
 * Settings of a topic. Members that are left out stay as they are; null resets one.
 */
export type TopicInput = {
    /**
     * Name for people: at most 100 characters. Default empty.
     */
    displayName?: string | null;
    /**
     * Retries, throttle and content type of attempts at webhooks. It replaces the policy as a whole; null removes it.
     */
    deliveryPolicy?: DeliveryPolicyInput | null;
    /**
     * Whether the topic’s delivery policy replaces those of its subscriptions. Default false.
     */
    disableSubscriptionOverrides?: boolean | null;
    /**
     * Deliveries of messages older than this expire, those to queues after 30 days. Default 345600.
     */
    retentionSeconds?: number | null;
    /**
     * Must agree with the name: true where it ends in `.fifo`. It cannot be changed.
     */
    fifo?: boolean | null;
    /**
     * FIFO only: a message without deduplicationId gets the SHA-256 of its text. Default false.
     */
    contentBasedDeduplication?: boolean | null;
    /**
     * Keeps the latest messages, so that they can be read, resent, and tried on filters. Default: none are kept.
     */
    keepMessages?: {
        /**
         * How long a message is kept: 1 to 2592000 s (30 days).
         */
        seconds: number;
        /**
         * Memory of Redis that the messages may fill. Past it the oldest go, in time or not.
         */
        bytes: number;
    } | null;
    /**
     * Archives every message outside of Redis, to resend it later. null deletes the archive. Default: there is none.
     */
    archive?: {
        /**
         * How long the archive has a message: 1 to 365 days.
         */
        days: number;
        /**
         * Bytes that the compressed messages may fill. Past it the oldest go, in time or not. Default: no bound.
         */
        bytes?: number;
        /**
         * While the place of archives cannot be reached, messages wait in Redis. refuse: all of them wait, and publishing is refused when memory is short. dropOldest: the oldest of them are lost then. Default refuse.
         */
        whenFull?: 'refuse' | 'dropOldest';
    } | null;
    /**
     * The topic gets notices about topics whose names begin with this text, and about their endpoints; an empty text: about everything. Standard topics only. Default: it gets none.
     */
    notices?: string | null;
    /**
     * A subscription is paused when its endpoint has accepted nothing for this many days and still fails. Default: never.
     */
    disableAfterDays?: number | null;
    /**
     * sns: envelopes carry a signature as Amazon SNS makes it, except of FIFO topics. Default none.
     */
    signing?: 'none' | 'sns' | null;
    /**
     * Which attempts are recorded, with the beginning of the answer: none, failures or all. Default failures.
     */
    recordAttempts?: 'none' | 'failures' | 'all' | null;
    /**
     * Whether a message must fit the catalogue of event types: its type must be known, and its content fit the schema. warn: it is accepted, and the answer says what is wrong. refuse: it is not accepted. Default off.
     */
    eventTypeCheck?: 'off' | 'warn' | 'refuse' | null;
    /**
     * Whether messages are stored sealed: their content is encrypted in Redis, from the publish to the end of each delivery. Default false.
     */
    sealMessages?: boolean | null;
    /**
     * FIFO only: whether a deduplicationId is unique in the topic or in its message group. Default Topic.
     */
    fifoThroughputScope?: 'Topic' | 'MessageGroup' | null;
    /**
     * Tags by their keys, at most 50. A change replaces all of them. Default: none.
     */
    tags?: {
        [key: string]: string;
    } | null;
    /**
     * Attributes of the AWS API without a member here, as texts: `Policy`, `TracingConfig`, `KmsMasterKeyId` and others. A change replaces all of them. Default: none.
     */
    attributes?: {
        [key: string]: string;
    } | null;
};

export type TopicList = {
    /**
     * The items of this page; there may be fewer than `limit`.
     */
    topics: Array<Topic>;
    /**
     * Give it as `cursor` to read the next page. null: this page is the last.
     */
    nextCursor: string | null;
};

/**
 * An attribute of any type.
 */
export type TypedAttribute = {
    /**
     * `String`, `Number`, `Binary`, `String.Array`, or one of the first three with a `.label`.
     */
    type: string;
    /**
     * The value as text; base64 where the type is Binary.
     */
    value: string;
};

/**
 * The meaning of a lane’s figures. Its code and facts are for programs.
 */
export type Verdict = {
    /**
     * The first of these that holds. gone: Fantail paused the subscription because its endpoint answered 410 (Gone). paused: The subscription is paused. pending: The endpoint has not confirmed the subscription. misconfigured: Fantail itself is not configured correctly, so no attempt can be made. noToken: No attempt can be made, because the token server of the endpoint cannot be reached or refuses a token. dlqMissing: Dead deliveries wait because the dead-letter queue does not exist. endpointDisabled: The push provider has disabled the endpoint. queueMissing: The queue to which the subscription delivers does not exist. queueRefuses: The queue to which the subscription delivers refuses its messages, by its policy or its limits. quarantined: Messages for the subscription are in the quarantine. circuitOpen: The circuit breaker is open and allows only probes. failing: The last five attempts failed, or at least two and all attempts of a minute or longer. hung: An attempt has had no answer for 5 s, and none has succeeded in the time that an attempt may take. Time-outs count too. groupBlocked: The first message of a FIFO group has failed, and messages have waited for 5 s or longer. tooSlowIn: More deliveries came in the last minute than the throttle, or the latest attempts, let out in a minute. throttled: Deliveries wait at a throttle, and no more came in the last minute than it lets out. undispatched: Published messages have waited for a worker for 5 s, perhaps also messages for this subscription. catchingUp: Deliveries have waited for 5 s or longer and are being sent. Nothing is wrong. fine: None of the others holds: no delivery has waited for 5 s.
     */
    code: 'gone' | 'paused' | 'pending' | 'misconfigured' | 'noToken' | 'dlqMissing' | 'endpointDisabled' | 'queueMissing' | 'queueRefuses' | 'quarantined' | 'circuitOpen' | 'failing' | 'hung' | 'groupBlocked' | 'tooSlowIn' | 'throttled' | 'undispatched' | 'catchingUp' | 'fine';
    /**
     * Since when, as far as the service knows: ISO 8601 in UTC. null: unknown, or nothing is wrong.
     */
    since: string | null;
    /**
     * The verdict in words, for people. It may change with any release.
     */
    sentence: string;
    /**
     * The figures behind the verdict.
     */
    facts: {
        /**
         * HTTP status of the latest failure; null: there was none, or a success came after it.
         */
        lastStatusCode: number | null;
        /**
         * Its error as a code; null: there was an answer, or a success came after it.
         */
        lastError: string | null;
        /**
         * Attempts that have failed since the last success.
         */
        failedInARow: number;
        /**
         * Deliveries that came in the last minute, a second. null: unknown, unless what waits is older.
         */
        arrivalsPerSecond: number | null;
        /**
         * Attempts that ended in the last minute, a second. null: none ended.
         */
        attemptsPerSecond: number | null;
        /**
         * When the oldest that waits is too old to be delivered: ISO 8601 in UTC. null: nothing waits.
         */
        firstExpiresAt: string | null;
        /**
         * The FIFO group whose first message fails while others wait behind it. null: none does.
         */
        blockedGroup: string | null;
        /**
         * Id of that first message; null: no group is blocked.
         */
        blockingMessageId: string | null;
    };
};

/**
 * Which messages to hide, and for how long.
 */
export type VisibilityInput = {
    /**
     * Receipt handles of received messages, 1 to 100.
     */
    receiptHandles: Array<string>;
    /**
     * How long the messages are hidden from now on, up to 43200; 0 shows them at once.
     */
    visibilityTimeoutSeconds: number;
};

/**
 * A key of Standard Webhooks signatures, without its secret.
 */
export type WebhookKey = {
    /**
     * Id of the key: 16 hex digits. It does not show the secret.
     */
    id: string;
    /**
     * Kind of key: a shared secret (hmac-sha256) or a key pair (ed25519).
     */
    algorithm: 'hmac-sha256' | 'ed25519';
    /**
     * ed25519 only: the key that receivers verify with, `whpk_` and base64.
     */
    publicKey?: string;
    /**
     * When it was created: ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
    /**
     * When a replaced key stops signing: ISO 8601 in UTC. null: the newest key, which has no end.
     */
    expiresAt: string | null;
};

/**
 * A signing key to be made; without members a shared secret is made up.
 */
export type WebhookKeyInput = {
    /**
     * hmac-sha256: a secret that both sides share; ed25519: a key pair. Default hmac-sha256.
     */
    algorithm?: 'hmac-sha256' | 'ed25519';
    /**
     * hmac-sha256 only: a secret that the receiver has already, `whsec_` and 24 to 75 bytes in base64. If the newest key has it, no other is made. Default: a new random one.
     */
    secret?: string;
    /**
     * How long earlier keys still sign together with the new one. Default 86400.
     */
    overlapSeconds?: number;
};

export type WebhookKeyList = {
    /**
     * The keys that sign now, newest first: at most 5.
     */
    webhookKeys: Array<WebhookKey>;
};

export type PublishData = {
    body: PublishInput;
    headers?: {
        /**
         * Any text that names this publish: 1 to 255 visible ASCII characters. The same key within 24 hours stores nothing again and answers the same ids.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: {
        /**
         * true: the request’s body, whatever its type, is the message; it must be UTF-8. Default false.
         */
        raw?: 'false' | 'true';
        /**
         * The message’s subject, only with raw=true: 1 to 99 characters without line breaks.
         */
        subject?: string;
        /**
         * The type of the message, only with raw=true: a name like `order.paid`.
         */
        eventType?: string;
    };
    url: '/v1/topics/{topic}/messages';
};

export type PublishErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     *
     * `quota_exceeded`: A quota allows no more of this; `message` names the quota. Delete some, or ask the operator.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `idempotency_mismatch`: The `Idempotency-Key` was used for another request within 24 hours.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PublishError = PublishErrors[keyof PublishErrors];

export type PublishResponses = {
    /**
     * The messages are stored and will be delivered.
     */
    202: PublishAnswer;
};

export type PublishResponse = PublishResponses[keyof PublishResponses];

export type DeleteTopicData = {
    body?: never;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: never;
    url: '/v1/topics/{topic}';
};

export type DeleteTopicErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeleteTopicError = DeleteTopicErrors[keyof DeleteTopicErrors];

export type DeleteTopicResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeleteTopicResponse = DeleteTopicResponses[keyof DeleteTopicResponses];

export type GetTopicData = {
    body?: never;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: never;
    url: '/v1/topics/{topic}';
};

export type GetTopicErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetTopicError = GetTopicErrors[keyof GetTopicErrors];

export type GetTopicResponses = {
    /**
     * The topic
     */
    200: Topic;
};

export type GetTopicResponse = GetTopicResponses[keyof GetTopicResponses];

export type UpdateTopicData = {
    body: TopicInput;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: never;
    url: '/v1/topics/{topic}';
};

export type UpdateTopicErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type UpdateTopicError = UpdateTopicErrors[keyof UpdateTopicErrors];

export type UpdateTopicResponses = {
    /**
     * The topic as it is now
     */
    200: Topic;
};

export type UpdateTopicResponse = UpdateTopicResponses[keyof UpdateTopicResponses];

export type CreateTopicData = {
    body?: TopicInput;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: never;
    url: '/v1/topics/{topic}';
};

export type CreateTopicErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     *
     * `quota_exceeded`: A quota allows no more of this; `message` names the quota. Delete some, or ask the operator.
     */
    403: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CreateTopicError = CreateTopicErrors[keyof CreateTopicErrors];

export type CreateTopicResponses = {
    /**
     * It existed: the members given are set
     */
    200: Topic;
    /**
     * Created
     */
    201: Topic;
};

export type CreateTopicResponse = CreateTopicResponses[keyof CreateTopicResponses];

export type ListTopicsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only topics whose names begin with this text. Default: all.
         */
        prefix?: string;
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/topics';
};

export type ListTopicsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListTopicsError = ListTopicsErrors[keyof ListTopicsErrors];

export type ListTopicsResponses = {
    /**
     * A page, sorted by ARN
     */
    200: TopicList;
};

export type ListTopicsResponse = ListTopicsResponses[keyof ListTopicsResponses];

export type ListEventTypesData = {
    body?: never;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: never;
    url: '/v1/topics/{topic}/event-types';
};

export type ListEventTypesErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListEventTypesError = ListEventTypesErrors[keyof ListEventTypesErrors];

export type ListEventTypesResponses = {
    /**
     * Every event type
     */
    200: EventTypeList;
};

export type ListEventTypesResponse = ListEventTypesResponses[keyof ListEventTypesResponses];

export type DeleteEventTypeData = {
    body?: never;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
        /**
         * Name of an event type: segments of `A-Z a-z 0-9 _ -` joined by dots, like `order.paid`.
         */
        name: string;
    };
    query?: never;
    url: '/v1/topics/{topic}/event-types/{name}';
};

export type DeleteEventTypeErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeleteEventTypeError = DeleteEventTypeErrors[keyof DeleteEventTypeErrors];

export type DeleteEventTypeResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeleteEventTypeResponse = DeleteEventTypeResponses[keyof DeleteEventTypeResponses];

export type GetEventTypeData = {
    body?: never;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
        /**
         * Name of an event type: segments of `A-Z a-z 0-9 _ -` joined by dots, like `order.paid`.
         */
        name: string;
    };
    query?: {
        /**
         * Number of the version whose schema is shown. Default: the newest.
         */
        version?: number;
    };
    url: '/v1/topics/{topic}/event-types/{name}';
};

export type GetEventTypeErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetEventTypeError = GetEventTypeErrors[keyof GetEventTypeErrors];

export type GetEventTypeResponses = {
    /**
     * The event type
     */
    200: EventType;
};

export type GetEventTypeResponse = GetEventTypeResponses[keyof GetEventTypeResponses];

export type PutEventTypeData = {
    body?: EventTypeInput;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
        /**
         * Name of an event type: segments of `A-Z a-z 0-9 _ -` joined by dots, like `order.paid`.
         */
        name: string;
    };
    query?: never;
    url: '/v1/topics/{topic}/event-types/{name}';
};

export type PutEventTypeErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PutEventTypeError = PutEventTypeErrors[keyof PutEventTypeErrors];

export type PutEventTypeResponses = {
    /**
     * It existed: the members given are set
     */
    200: EventType;
    /**
     * Created
     */
    201: EventType;
};

export type PutEventTypeResponse = PutEventTypeResponses[keyof PutEventTypeResponses];

export type CheckEventSchemaData = {
    body: EventSchemaCheck;
    path?: never;
    query?: never;
    url: '/v1/event-types/check';
};

export type CheckEventSchemaErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CheckEventSchemaError = CheckEventSchemaErrors[keyof CheckEventSchemaErrors];

export type CheckEventSchemaResponses = {
    /**
     * The first problem, if any
     */
    200: EventSchemaCheckResult;
};

export type CheckEventSchemaResponse = CheckEventSchemaResponses[keyof CheckEventSchemaResponses];

export type GetTopicDocumentData = {
    body?: never;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: never;
    url: '/v1/topics/{topic}/openapi';
};

export type GetTopicDocumentErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetTopicDocumentError = GetTopicDocumentErrors[keyof GetTopicDocumentErrors];

export type GetTopicDocumentResponses = {
    /**
     * An OpenAPI 3.1 document
     */
    200: EventTypeDocument;
};

export type GetTopicDocumentResponse = GetTopicDocumentResponses[keyof GetTopicDocumentResponses];

export type ImportEventTypesData = {
    body: EventTypeImport;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: never;
    url: '/v1/topics/{topic}/openapi';
};

export type ImportEventTypesErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ImportEventTypesError = ImportEventTypesErrors[keyof ImportEventTypesErrors];

export type ImportEventTypesResponses = {
    /**
     * The changes that were made, or that would be
     */
    200: EventTypeImportResult;
};

export type ImportEventTypesResponse = ImportEventTypesResponses[keyof ImportEventTypesResponses];

export type ListTopicSubscriptionsData = {
    body?: never;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: {
        /**
         * Only subscriptions of exactly this URL or queue ARN, credentials included.
         */
        endpoint?: string;
        /**
         * Only subscriptions with this status. Default: all.
         */
        status?: 'pending' | 'active' | 'paused';
        /**
         * Only subscriptions of exactly this name.
         */
        name?: string;
        /**
         * Only subscriptions whose metadata has this member: a key, a colon and the value.
         */
        metadata?: string;
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/topics/{topic}/subscriptions';
};

export type ListTopicSubscriptionsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListTopicSubscriptionsError = ListTopicSubscriptionsErrors[keyof ListTopicSubscriptionsErrors];

export type ListTopicSubscriptionsResponses = {
    /**
     * A page
     */
    200: SubscriptionList;
};

export type ListTopicSubscriptionsResponse = ListTopicSubscriptionsResponses[keyof ListTopicSubscriptionsResponses];

export type SubscribeData = {
    body: NewSubscription;
    path: {
        /**
         * A topic by its name (1 to 256 of `A-Z a-z 0-9 _ -`, FIFO topics end in `.fifo`) or its ARN.
         */
        topic: string;
    };
    query?: never;
    url: '/v1/topics/{topic}/subscriptions';
};

export type SubscribeErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     *
     * `quota_exceeded`: A quota allows no more of this; `message` names the quota. Delete some, or ask the operator.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `subscription_exists`: The topic has a subscription with this endpoint and other settings.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type SubscribeError = SubscribeErrors[keyof SubscribeErrors];

export type SubscribeResponses = {
    /**
     * The subscription that has this endpoint already. The given settings agree with it.
     */
    200: Subscription;
    /**
     * Subscribed
     */
    201: Subscription;
};

export type SubscribeResponse = SubscribeResponses[keyof SubscribeResponses];

export type ListSubscriptionsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only subscriptions of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only subscriptions of exactly this URL or queue ARN, credentials included.
         */
        endpoint?: string;
        /**
         * Only subscriptions with this status. Default: all.
         */
        status?: 'pending' | 'active' | 'paused';
        /**
         * Only subscriptions of exactly this name.
         */
        name?: string;
        /**
         * Only subscriptions whose metadata has this member: a key, a colon and the value.
         */
        metadata?: string;
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/subscriptions';
};

export type ListSubscriptionsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListSubscriptionsError = ListSubscriptionsErrors[keyof ListSubscriptionsErrors];

export type ListSubscriptionsResponses = {
    /**
     * A page
     */
    200: SubscriptionList;
};

export type ListSubscriptionsResponse = ListSubscriptionsResponses[keyof ListSubscriptionsResponses];

export type CheckEndpointsData = {
    body: EndpointCheckInput;
    path?: never;
    query?: never;
    url: '/v1/endpoints/check';
};

export type CheckEndpointsErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CheckEndpointsError = CheckEndpointsErrors[keyof CheckEndpointsErrors];

export type CheckEndpointsResponses = {
    /**
     * A problem or null for each
     */
    200: EndpointCheck;
};

export type CheckEndpointsResponse = CheckEndpointsResponses[keyof CheckEndpointsResponses];

export type DeleteSubscriptionData = {
    body?: never;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}';
};

export type DeleteSubscriptionErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeleteSubscriptionError = DeleteSubscriptionErrors[keyof DeleteSubscriptionErrors];

export type DeleteSubscriptionResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeleteSubscriptionResponse = DeleteSubscriptionResponses[keyof DeleteSubscriptionResponses];

export type GetSubscriptionData = {
    body?: never;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}';
};

export type GetSubscriptionErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetSubscriptionError = GetSubscriptionErrors[keyof GetSubscriptionErrors];

export type GetSubscriptionResponses = {
    /**
     * The subscription
     */
    200: Subscription;
};

export type GetSubscriptionResponse = GetSubscriptionResponses[keyof GetSubscriptionResponses];

export type UpdateSubscriptionData = {
    body: SubscriptionInput;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}';
};

export type UpdateSubscriptionErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `subscription_exists`: The topic has a subscription with this endpoint and other settings.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type UpdateSubscriptionError = UpdateSubscriptionErrors[keyof UpdateSubscriptionErrors];

export type UpdateSubscriptionResponses = {
    /**
     * The subscription as it is now
     */
    200: Subscription;
};

export type UpdateSubscriptionResponse = UpdateSubscriptionResponses[keyof UpdateSubscriptionResponses];

export type PauseSubscriptionData = {
    body?: NoMembers;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/pause';
};

export type PauseSubscriptionErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PauseSubscriptionError = PauseSubscriptionErrors[keyof PauseSubscriptionErrors];

export type PauseSubscriptionResponses = {
    /**
     * The subscription as it is now
     */
    200: Subscription;
};

export type PauseSubscriptionResponse = PauseSubscriptionResponses[keyof PauseSubscriptionResponses];

export type ResumeSubscriptionData = {
    body?: NoMembers;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/resume';
};

export type ResumeSubscriptionErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ResumeSubscriptionError = ResumeSubscriptionErrors[keyof ResumeSubscriptionErrors];

export type ResumeSubscriptionResponses = {
    /**
     * The subscription as it is now
     */
    200: Subscription;
};

export type ResumeSubscriptionResponse = ResumeSubscriptionResponses[keyof ResumeSubscriptionResponses];

export type ConfirmSubscriptionData = {
    body: ConfirmInput;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/confirm';
};

export type ConfirmSubscriptionErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ConfirmSubscriptionError = ConfirmSubscriptionErrors[keyof ConfirmSubscriptionErrors];

export type ConfirmSubscriptionResponses = {
    /**
     * The subscription as it is now
     */
    200: Subscription;
};

export type ConfirmSubscriptionResponse = ConfirmSubscriptionResponses[keyof ConfirmSubscriptionResponses];

export type SendConfirmationData = {
    body?: NoMembers;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/send-confirmation';
};

export type SendConfirmationErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type SendConfirmationError = SendConfirmationErrors[keyof SendConfirmationErrors];

export type SendConfirmationResponses = {
    /**
     * The subscription as it is now
     */
    200: Subscription;
};

export type SendConfirmationResponse = SendConfirmationResponses[keyof SendConfirmationResponses];

export type RetryNowData = {
    body?: RetryNowInput;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/retry';
};

export type RetryNowErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type RetryNowError = RetryNowErrors[keyof RetryNowErrors];

export type RetryNowResponses = {
    /**
     * How many were moved
     */
    200: RetryNowResult;
};

export type RetryNowResponse = RetryNowResponses[keyof RetryNowResponses];

export type SetMessageAsideData = {
    body: SetAsideInput;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/set-aside';
};

export type SetMessageAsideErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type SetMessageAsideError = SetMessageAsideErrors[keyof SetMessageAsideErrors];

export type SetMessageAsideResponses = {
    /**
     * It goes to the queue
     */
    202: SetAsideResult;
};

export type SetMessageAsideResponse = SetMessageAsideResponses[keyof SetMessageAsideResponses];

export type PurgeSubscriptionData = {
    body?: NoMembers;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/purge';
};

export type PurgeSubscriptionErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PurgeSubscriptionError = PurgeSubscriptionErrors[keyof PurgeSubscriptionErrors];

export type PurgeSubscriptionResponses = {
    /**
     * How many were discarded
     */
    200: LanePurgeResult;
};

export type PurgeSubscriptionResponse = PurgeSubscriptionResponses[keyof PurgeSubscriptionResponses];

export type TestSubscriptionData = {
    body?: TestInput;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/test';
};

export type TestSubscriptionErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type TestSubscriptionError = TestSubscriptionErrors[keyof TestSubscriptionErrors];

export type TestSubscriptionResponses = {
    /**
     * The attempt was made. It may have failed.
     */
    200: TestAttempt;
};

export type TestSubscriptionResponse = TestSubscriptionResponses[keyof TestSubscriptionResponses];

export type DeleteWebhookKeysData = {
    body?: never;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/webhook-keys';
};

export type DeleteWebhookKeysErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeleteWebhookKeysError = DeleteWebhookKeysErrors[keyof DeleteWebhookKeysErrors];

export type DeleteWebhookKeysResponses = {
    /**
     * There are none any more
     */
    204: void;
};

export type DeleteWebhookKeysResponse = DeleteWebhookKeysResponses[keyof DeleteWebhookKeysResponses];

export type ListWebhookKeysData = {
    body?: never;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/webhook-keys';
};

export type ListWebhookKeysErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListWebhookKeysError = ListWebhookKeysErrors[keyof ListWebhookKeysErrors];

export type ListWebhookKeysResponses = {
    /**
     * The keys, without secrets
     */
    200: WebhookKeyList;
};

export type ListWebhookKeysResponse = ListWebhookKeysResponses[keyof ListWebhookKeysResponses];

export type CreateWebhookKeyData = {
    body?: WebhookKeyInput;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/webhook-keys';
};

export type CreateWebhookKeyErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CreateWebhookKeyError = CreateWebhookKeyErrors[keyof CreateWebhookKeyErrors];

export type CreateWebhookKeyResponses = {
    /**
     * Made; it signs at once
     */
    201: CreatedWebhookKey;
};

export type CreateWebhookKeyResponse = CreateWebhookKeyResponses[keyof CreateWebhookKeyResponses];

export type ListLanesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * worst: by verdict, then age times deliveries that wait. oldest: by the oldest that waits. waiting: by how many wait.
         */
        sort?: 'worst' | 'oldest' | 'waiting';
        /**
         * Only lanes with this verdict. inNeed: with a verdict that needs attention. Default: all.
         */
        state?: 'inNeed' | 'gone' | 'paused' | 'pending' | 'misconfigured' | 'noToken' | 'dlqMissing' | 'endpointDisabled' | 'queueMissing' | 'queueRefuses' | 'quarantined' | 'circuitOpen' | 'failing' | 'hung' | 'groupBlocked' | 'tooSlowIn' | 'throttled' | 'undispatched' | 'catchingUp' | 'fine';
        /**
         * Only lanes of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only lanes of topics whose names begin with this.
         */
        topicPrefix?: string;
        /**
         * Only lanes to this host: `example.com` with all its ports, or `example.com:8443`.
         */
        host?: string;
        /**
         * Only lanes whose endpoint, name, topic or subscription id contains this text, in any case.
         */
        q?: string;
        /**
         * host: the answer has `hosts` in place of `lanes`. Default: lanes one by one.
         */
        groupBy?: 'host';
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/lanes';
};

export type ListLanesErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListLanesError = ListLanesErrors[keyof ListLanesErrors];

export type ListLanesResponses = {
    /**
     * A page
     */
    200: LaneList;
};

export type ListLanesResponse = ListLanesResponses[keyof ListLanesResponses];

export type PlanBulkData = {
    body: BulkPlanInput;
    path?: never;
    query?: never;
    url: '/v1/bulk-plans';
};

export type PlanBulkErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PlanBulkError = PlanBulkErrors[keyof PlanBulkErrors];

export type PlanBulkResponses = {
    /**
     * The plan
     */
    201: BulkTask;
};

export type PlanBulkResponse = PlanBulkResponses[keyof PlanBulkResponses];

export type ListBulkTasksData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/bulk';
};

export type ListBulkTasksErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListBulkTasksError = ListBulkTasksErrors[keyof ListBulkTasksErrors];

export type ListBulkTasksResponses = {
    /**
     * A page, the latest first
     */
    200: BulkTaskList;
};

export type ListBulkTasksResponse = ListBulkTasksResponses[keyof ListBulkTasksResponses];

export type StartBulkData = {
    body: BulkStartInput;
    path?: never;
    query?: never;
    url: '/v1/bulk';
};

export type StartBulkErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type StartBulkError = StartBulkErrors[keyof StartBulkErrors];

export type StartBulkResponses = {
    /**
     * The task has begun
     */
    202: BulkTask;
};

export type StartBulkResponse = StartBulkResponses[keyof StartBulkResponses];

export type GetBulkTaskData = {
    body?: never;
    path: {
        /**
         * A bulk task by its id (a UUID).
         */
        id: string;
    };
    query?: never;
    url: '/v1/bulk/{id}';
};

export type GetBulkTaskErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetBulkTaskError = GetBulkTaskErrors[keyof GetBulkTaskErrors];

export type GetBulkTaskResponses = {
    /**
     * The plan or task
     */
    200: BulkTask;
};

export type GetBulkTaskResponse = GetBulkTaskResponses[keyof GetBulkTaskResponses];

export type CancelBulkTaskData = {
    body?: NoMembers;
    path: {
        /**
         * A bulk task by its id (a UUID).
         */
        id: string;
    };
    query?: never;
    url: '/v1/bulk/{id}/cancel';
};

export type CancelBulkTaskErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CancelBulkTaskError = CancelBulkTaskErrors[keyof CancelBulkTaskErrors];

export type CancelBulkTaskResponses = {
    /**
     * The task as it is now
     */
    200: BulkTask;
};

export type CancelBulkTaskResponse = CancelBulkTaskResponses[keyof CancelBulkTaskResponses];

export type UndoBulkTaskData = {
    body?: NoMembers;
    path: {
        /**
         * A bulk task by its id (a UUID).
         */
        id: string;
    };
    query?: never;
    url: '/v1/bulk/{id}/undo';
};

export type UndoBulkTaskErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type UndoBulkTaskError = UndoBulkTaskErrors[keyof UndoBulkTaskErrors];

export type UndoBulkTaskResponses = {
    /**
     * The task has begun
     */
    202: BulkTask;
};

export type UndoBulkTaskResponse = UndoBulkTaskResponses[keyof UndoBulkTaskResponses];

export type GetOverviewData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/overview';
};

export type GetOverviewErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetOverviewError = GetOverviewErrors[keyof GetOverviewErrors];

export type GetOverviewResponses = {
    /**
     * The overview
     */
    200: Overview;
};

export type GetOverviewResponse = GetOverviewResponses[keyof GetOverviewResponses];

export type GetStatsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Time up to now. Up to 24h the steps are minutes, beyond that hours. Default: 1h.
         */
        range?: '15m' | '1h' | '6h' | '24h' | '7d' | '30d';
        /**
         * Only what this topic counted, by its name or ARN.
         */
        topic?: string;
        /**
         * Only what this subscription counted, by its id or ARN. Not together with `topic`.
         */
        subscription?: string;
    };
    url: '/v1/stats';
};

export type GetStatsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetStatsError = GetStatsErrors[keyof GetStatsErrors];

export type GetStatsResponses = {
    /**
     * The statistics
     */
    200: Stats;
};

export type GetStatsResponse = GetStatsResponses[keyof GetStatsResponses];

export type FindByNameData = {
    body?: never;
    path?: never;
    query: {
        /**
         * Words in any order, such as `hooli orders ERP`. All of them must be in the name, topic, host, protocol or metadata of one thing.
         */
        text: string;
        /**
         * Names in the answer, 1 to 50; default 20.
         */
        limit?: number;
    };
    url: '/v1/search/names';
};

export type FindByNameErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type FindByNameError = FindByNameErrors[keyof FindByNameErrors];

export type FindByNameResponses = {
    /**
     * The finds, the best first
     */
    200: FoundNames;
};

export type FindByNameResponse = FindByNameResponses[keyof FindByNameResponses];

export type ListServicesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/services';
};

export type ListServicesErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListServicesError = ListServicesErrors[keyof ListServicesErrors];

export type ListServicesResponses = {
    /**
     * The processes
     */
    200: ServiceList;
};

export type ListServicesResponse = ListServicesResponses[keyof ListServicesResponses];

export type PreviewRetriesData = {
    body: RetryPreviewInput;
    path?: never;
    query?: never;
    url: '/v1/delivery-policies/preview';
};

export type PreviewRetriesErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PreviewRetriesError = PreviewRetriesErrors[keyof PreviewRetriesErrors];

export type PreviewRetriesResponses = {
    /**
     * Every retry
     */
    200: RetryPreview;
};

export type PreviewRetriesResponse = PreviewRetriesResponses[keyof PreviewRetriesResponses];

export type ReplayFilterPolicyData = {
    body: FilterReplayInput;
    path?: never;
    query?: never;
    url: '/v1/filter-policies/replay';
};

export type ReplayFilterPolicyErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ReplayFilterPolicyError = ReplayFilterPolicyErrors[keyof ReplayFilterPolicyErrors];

export type ReplayFilterPolicyResponses = {
    /**
     * How many matched, and what refused the others
     */
    200: FilterReplay;
};

export type ReplayFilterPolicyResponse = ReplayFilterPolicyResponses[keyof ReplayFilterPolicyResponses];

export type TestFilterPolicyData = {
    body: FilterTestInput;
    path?: never;
    query?: never;
    url: '/v1/filter-policies/test';
};

export type TestFilterPolicyErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type TestFilterPolicyError = TestFilterPolicyErrors[keyof TestFilterPolicyErrors];

export type TestFilterPolicyResponses = {
    /**
     * Verdict by clause
     */
    200: FilterTest;
};

export type TestFilterPolicyResponse = TestFilterPolicyResponses[keyof TestFilterPolicyResponses];

export type GetMessageBodyData = {
    body?: never;
    path: {
        /**
         * Id of a published message: a UUID, as publishing answers it.
         */
        messageId: string;
    };
    query?: never;
    url: '/v1/messages/{messageId}/body';
};

export type GetMessageBodyErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `body_gone`: The message is known, and its text is not kept; `message` says why.
     */
    410: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetMessageBodyError = GetMessageBodyErrors[keyof GetMessageBodyErrors];

export type GetMessageBodyResponses = {
    /**
     * The message as it is stored
     */
    200: MessageBody;
};

export type GetMessageBodyResponse = GetMessageBodyResponses[keyof GetMessageBodyResponses];

export type ResendMessageData = {
    body: ResendInput;
    headers?: {
        /**
         * Any text that names this publish: 1 to 255 visible ASCII characters. The same key within 24 hours stores nothing again and answers the same ids.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * Id of a published message: a UUID, as publishing answers it.
         */
        messageId: string;
    };
    query?: never;
    url: '/v1/messages/{messageId}/resend';
};

export type ResendMessageErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `body_gone`: The message is known, and its text is not kept; `message` says why.
     */
    410: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ResendMessageError = ResendMessageErrors[keyof ResendMessageErrors];

export type ResendMessageResponses = {
    /**
     * The delivery waits in its lane.
     */
    202: Resend;
};

export type ResendMessageResponse = ResendMessageResponses[keyof ResendMessageResponses];

export type ResendSinceData = {
    body: ResendSinceInput;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/resend';
};

export type ResendSinceErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `redrive_active`: A redrive or resend from this source is active; only one runs at a time.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ResendSinceError = ResendSinceErrors[keyof ResendSinceErrors];

export type ResendSinceResponses = {
    /**
     * With dryRun: how many messages are kept since then
     */
    200: ResendDryRun;
    /**
     * The task has begun
     */
    202: Redrive;
};

export type ResendSinceResponse = ResendSinceResponses[keyof ResendSinceResponses];

export type GetMessageData = {
    body?: never;
    path: {
        /**
         * Id of a published message: a UUID, as publishing answers it.
         */
        messageId: string;
    };
    query?: never;
    url: '/v1/messages/{messageId}';
};

export type GetMessageErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `body_gone`: The message is known, and its text is not kept; `message` says why.
     */
    410: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetMessageError = GetMessageErrors[keyof GetMessageErrors];

export type GetMessageResponses = {
    /**
     * The message and its counts
     */
    200: Message;
};

export type GetMessageResponse = GetMessageResponses[keyof GetMessageResponses];

export type ListDeliveriesData = {
    body?: never;
    path: {
        /**
         * Id of a published message: a UUID, as publishing answers it.
         */
        messageId: string;
    };
    query?: never;
    url: '/v1/messages/{messageId}/deliveries';
};

export type ListDeliveriesErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `body_gone`: The message is known, and its text is not kept; `message` says why.
     */
    410: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListDeliveriesError = ListDeliveriesErrors[keyof ListDeliveriesErrors];

export type ListDeliveriesResponses = {
    /**
     * Its deliveries
     */
    200: DeliveryList;
};

export type ListDeliveriesResponse = ListDeliveriesResponses[keyof ListDeliveriesResponses];

export type ListAttemptsData = {
    body?: never;
    path: {
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/subscriptions/{id}/attempts';
};

export type ListAttemptsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListAttemptsError = ListAttemptsErrors[keyof ListAttemptsErrors];

export type ListAttemptsResponses = {
    /**
     * The newest attempts, newest first
     */
    200: AttemptList;
};

export type ListAttemptsResponse = ListAttemptsResponses[keyof ListAttemptsResponses];

export type ListDeliveryAttemptsData = {
    body?: never;
    path: {
        /**
         * Id of a published message: a UUID, as publishing answers it.
         */
        messageId: string;
        /**
         * A subscription by its id (a UUID) or its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/messages/{messageId}/deliveries/{id}/attempts';
};

export type ListDeliveryAttemptsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListDeliveryAttemptsError = ListDeliveryAttemptsErrors[keyof ListDeliveryAttemptsErrors];

export type ListDeliveryAttemptsResponses = {
    /**
     * Its attempts, newest first
     */
    200: AttemptList;
};

export type ListDeliveryAttemptsResponse = ListDeliveryAttemptsResponses[keyof ListDeliveryAttemptsResponses];

export type SearchMessagesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only messages of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only deliveries of this subscription, by its id or ARN. It may be deleted.
         */
        subscription?: string;
        /**
         * Only deliveries in this state. parked: it went to its lane to wait, and may have ended since. Default: all.
         */
        state?: 'delivered' | 'parked' | 'filtered' | 'deadLettered' | 'discarded' | 'expired';
        /**
         * Only deliveries whose last known attempt was answered with this HTTP status.
         */
        statusCode?: number;
        /**
         * Only what was logged at this time or later: ISO 8601 with an offset.
         */
        since?: string;
        /**
         * Only what was logged at this time or earlier: ISO 8601 with an offset.
         */
        until?: string;
        /**
         * lines: also shows the event type and a line of each message, if it is stored. Needs the scope `bodies`.
         */
        show?: 'lines';
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/messages';
};

export type SearchMessagesErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type SearchMessagesError = SearchMessagesErrors[keyof SearchMessagesErrors];

export type SearchMessagesResponses = {
    /**
     * A part of the search
     */
    200: MessageSearch;
};

export type SearchMessagesResponse = SearchMessagesResponses[keyof SearchMessagesResponses];

export type PublishDirectData = {
    body: DirectMessageInput;
    headers?: {
        /**
         * Any text that names this publish: 1 to 255 visible ASCII characters. The same key within 24 hours stores nothing again and answers the same ids.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/messages';
};

export type PublishDirectErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `idempotency_mismatch`: The `Idempotency-Key` was used for another request within 24 hours.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PublishDirectError = PublishDirectErrors[keyof PublishDirectErrors];

export type PublishDirectResponses = {
    /**
     * The message is stored and will be delivered.
     */
    202: DirectMessageReceipt;
};

export type PublishDirectResponse = PublishDirectResponses[keyof PublishDirectResponses];

export type SearchKeptMessagesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only what has this text in its message, subject or attributes. Capital and small letters are equal, and escapes of JSON are decoded.
         */
        text?: string;
        /**
         * Only messages of this event type, a name or a pattern such as `order.*`.
         */
        eventType?: string;
        /**
         * Only messages of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only messages of topics whose names begin so.
         */
        topicPrefix?: string;
        /**
         * Only messages of topics that have a subscription whose metadata has this member: a key, a colon and the value.
         */
        metadata?: string;
        /**
         * Only messages that were kept at this time or later: ISO 8601 with an offset.
         */
        since?: string;
        /**
         * Only messages that were kept at this time or earlier: ISO 8601 with an offset.
         */
        until?: string;
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/search/kept-messages';
};

export type SearchKeptMessagesErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type SearchKeptMessagesError = SearchKeptMessagesErrors[keyof SearchKeptMessagesErrors];

export type SearchKeptMessagesResponses = {
    /**
     * A part of the search
     */
    200: KeptSearch;
};

export type SearchKeptMessagesResponse = SearchKeptMessagesResponses[keyof SearchKeptMessagesResponses];

export type SearchDeadLettersData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only what has this text in its message, subject or attributes. Capital and small letters are equal, and escapes of JSON are decoded.
         */
        text?: string;
        /**
         * Only messages of this event type, a name or a pattern such as `order.*`.
         */
        eventType?: string;
        /**
         * Only messages of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only messages of topics whose names begin so.
         */
        topicPrefix?: string;
        /**
         * Only letters in this queue, by its name or ARN.
         */
        queue?: string;
        /**
         * Only letters of subscriptions whose metadata has this member: a key, a colon and the value.
         */
        metadata?: string;
        /**
         * Only letters that were dead-lettered at this time or later: ISO 8601 with an offset.
         */
        since?: string;
        /**
         * Only letters that were dead-lettered at this time or earlier: ISO 8601 with an offset.
         */
        until?: string;
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/search/dead-letters';
};

export type SearchDeadLettersErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type SearchDeadLettersError = SearchDeadLettersErrors[keyof SearchDeadLettersErrors];

export type SearchDeadLettersResponses = {
    /**
     * A part of the search
     */
    200: DeadLetterSearch;
};

export type SearchDeadLettersResponse = SearchDeadLettersResponses[keyof SearchDeadLettersResponses];

export type ListenToEventsData = {
    body?: never;
    headers?: {
        /**
         * The last `id` that the caller got. The stream continues after it, so no end comes twice.
         */
        'Last-Event-ID'?: string;
    };
    path?: never;
    query?: {
        /**
         * Only events of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only events of this subscription, by its id or ARN.
         */
        subscription?: string;
        /**
         * Only events of these types, by commas: parked, delivered, deadLettered, discarded, expired, published, attempt, redriven, changed. Default: all.
         */
        type?: string;
        /**
         * Only events with these statuses, by commas: 503, 5xx, or none for attempts without an answer. Default: all.
         */
        statusCode?: string;
        /**
         * Events a second at most. The event `gap` counts the others.
         */
        max?: number;
        /**
         * Ends of deliveries from this time on, as far as the outcome log has them. `Last-Event-ID` goes before it.
         */
        since?: string;
    };
    url: '/v1/events';
};

export type ListenToEventsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListenToEventsError = ListenToEventsErrors[keyof ListenToEventsErrors];

export type ListenToEventsResponses = {
    /**
     * The stream
     */
    200: DeliveryEvent;
};

export type ListenToEventsResponse = ListenToEventsResponses[keyof ListenToEventsResponses];

export type DeleteQueueData = {
    body?: never;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: never;
    url: '/v1/queues/{queue}';
};

export type DeleteQueueErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeleteQueueError = DeleteQueueErrors[keyof DeleteQueueErrors];

export type DeleteQueueResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeleteQueueResponse = DeleteQueueResponses[keyof DeleteQueueResponses];

export type GetQueueData = {
    body?: never;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: never;
    url: '/v1/queues/{queue}';
};

export type GetQueueErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetQueueError = GetQueueErrors[keyof GetQueueErrors];

export type GetQueueResponses = {
    /**
     * The queue
     */
    200: Queue;
};

export type GetQueueResponse = GetQueueResponses[keyof GetQueueResponses];

export type UpdateQueueData = {
    body: QueueInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: never;
    url: '/v1/queues/{queue}';
};

export type UpdateQueueErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type UpdateQueueError = UpdateQueueErrors[keyof UpdateQueueErrors];

export type UpdateQueueResponses = {
    /**
     * The queue as it is now
     */
    200: Queue;
};

export type UpdateQueueResponse = UpdateQueueResponses[keyof UpdateQueueResponses];

export type CreateQueueData = {
    body?: QueueInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: never;
    url: '/v1/queues/{queue}';
};

export type CreateQueueErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CreateQueueError = CreateQueueErrors[keyof CreateQueueErrors];

export type CreateQueueResponses = {
    /**
     * It existed: the members given are set
     */
    200: Queue;
    /**
     * Created
     */
    201: Queue;
};

export type CreateQueueResponse = CreateQueueResponses[keyof CreateQueueResponses];

export type ListQueuesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only queues whose names begin with this text. Default: all.
         */
        prefix?: string;
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/queues';
};

export type ListQueuesErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListQueuesError = ListQueuesErrors[keyof ListQueuesErrors];

export type ListQueuesResponses = {
    /**
     * A page, sorted by ARN
     */
    200: QueueList;
};

export type ListQueuesResponse = ListQueuesResponses[keyof ListQueuesResponses];

export type PeekMessagesData = {
    body?: never;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: {
        /**
         * Only dead letters of this subscription, by its id or ARN. A deleted one needs its ARN.
         */
        subscription?: string;
        /**
         * Only dead letters of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only dead letters that ended for this reason.
         */
        reason?: 'permanent' | 'retriesExhausted' | 'expired' | 'outcomeUnknown' | 'setAside';
        /**
         * Only dead letters whose last attempt failed with this code, such as `timeout`. `none`: it has no code.
         */
        error?: string;
        /**
         * Only dead letters that were dead-lettered at this time or later: ISO 8601 with an offset.
         */
        since?: string;
        /**
         * Only dead letters that were dead-lettered at this time or earlier: ISO 8601 with an offset.
         */
        until?: string;
        /**
         * Only dead letters whose last attempt got this HTTP status, 100 to 599. `none`: it got no answer.
         */
        statusCode?: 'none' | number;
        /**
         * Only these messages, by commas, by the queue’s id or the published one: 1 to 50.
         */
        messageIds?: string;
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/queues/{queue}/messages';
};

export type PeekMessagesErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PeekMessagesError = PeekMessagesErrors[keyof PeekMessagesErrors];

export type PeekMessagesResponses = {
    /**
     * A page
     */
    200: QueueMessageList;
};

export type PeekMessagesResponse = PeekMessagesResponses[keyof PeekMessagesResponses];

export type SendMessagesData = {
    body: QueueSendInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/messages';
};

export type SendMessagesErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type SendMessagesError = SendMessagesErrors[keyof SendMessagesErrors];

export type SendMessagesResponses = {
    /**
     * Sent
     */
    201: QueueSendAnswer;
};

export type SendMessagesResponse = SendMessagesResponses[keyof SendMessagesResponses];

export type ReceiveMessagesData = {
    body?: ReceiveInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/receive';
};

export type ReceiveMessagesErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ReceiveMessagesError = ReceiveMessagesErrors[keyof ReceiveMessagesErrors];

export type ReceiveMessagesResponses = {
    /**
     * Up to maxMessages, possibly none
     */
    200: ReceivedMessages;
};

export type ReceiveMessagesResponse = ReceiveMessagesResponses[keyof ReceiveMessagesResponses];

export type AcknowledgeMessagesData = {
    body: AcknowledgeInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/ack';
};

export type AcknowledgeMessagesErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type AcknowledgeMessagesError = AcknowledgeMessagesErrors[keyof AcknowledgeMessagesErrors];

export type AcknowledgeMessagesResponses = {
    /**
     * In the order of the handles
     */
    200: HandleResults;
};

export type AcknowledgeMessagesResponse = AcknowledgeMessagesResponses[keyof AcknowledgeMessagesResponses];

export type ChangeVisibilityData = {
    body: VisibilityInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/visibility';
};

export type ChangeVisibilityErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ChangeVisibilityError = ChangeVisibilityErrors[keyof ChangeVisibilityErrors];

export type ChangeVisibilityResponses = {
    /**
     * In the order of the handles
     */
    200: HandleResults;
};

export type ChangeVisibilityResponse = ChangeVisibilityResponses[keyof ChangeVisibilityResponses];

export type DeleteQueueMessageData = {
    body?: never;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
        /**
         * Id of a message in this queue, as sending, receiving and looking answer it.
         */
        messageId: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/messages/{messageId}';
};

export type DeleteQueueMessageErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeleteQueueMessageError = DeleteQueueMessageErrors[keyof DeleteQueueMessageErrors];

export type DeleteQueueMessageResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeleteQueueMessageResponse = DeleteQueueMessageResponses[keyof DeleteQueueMessageResponses];

export type GetQueueMessageData = {
    body?: never;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
        /**
         * Id of a message in this queue, as sending, receiving and looking answer it.
         */
        messageId: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/messages/{messageId}';
};

export type GetQueueMessageErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetQueueMessageError = GetQueueMessageErrors[keyof GetQueueMessageErrors];

export type GetQueueMessageResponses = {
    /**
     * The message
     */
    200: QueueMessage;
};

export type GetQueueMessageResponse = GetQueueMessageResponses[keyof GetQueueMessageResponses];

export type CountDeadLettersData = {
    body?: never;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: {
        /**
         * Groups letters with the same values, by commas: reason, statusCode, subscription, topic, error, hour. `hour` is that of the death.
         */
        groupBy?: string;
        /**
         * Only dead letters of this subscription, by its id or ARN. A deleted one needs its ARN.
         */
        subscription?: string;
        /**
         * Only dead letters of this topic, by its name or ARN.
         */
        topic?: string;
        /**
         * Only dead letters that ended for this reason.
         */
        reason?: 'permanent' | 'retriesExhausted' | 'expired' | 'outcomeUnknown' | 'setAside';
        /**
         * Only dead letters whose last attempt failed with this code, such as `timeout`. `none`: it has no code.
         */
        error?: string;
        /**
         * Only dead letters that were dead-lettered at this time or later: ISO 8601 with an offset.
         */
        since?: string;
        /**
         * Only dead letters that were dead-lettered at this time or earlier: ISO 8601 with an offset.
         */
        until?: string;
        /**
         * Only dead letters whose last attempt got this HTTP status, 100 to 599. `none`: it got no answer.
         */
        statusCode?: 'none' | number;
        /**
         * Only these messages, by commas, by the queue’s id or the published one: 1 to 50.
         */
        messageIds?: string;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/queues/{queue}/dead-letters';
};

export type CountDeadLettersErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CountDeadLettersError = CountDeadLettersErrors[keyof CountDeadLettersErrors];

export type CountDeadLettersResponses = {
    /**
     * The counts
     */
    200: DeadLetterCounts;
};

export type CountDeadLettersResponse = CountDeadLettersResponses[keyof CountDeadLettersResponses];

export type PurgeQueueData = {
    body?: PurgeInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/purge';
};

export type PurgeQueueErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `redrive_active`: A redrive or resend from this source is active; only one runs at a time.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PurgeQueueError = PurgeQueueErrors[keyof PurgeQueueErrors];

export type PurgeQueueResponses = {
    /**
     * How many were removed
     */
    200: PurgeResult;
    /**
     * The task that removes them has begun
     */
    202: Redrive;
};

export type PurgeQueueResponse = PurgeQueueResponses[keyof PurgeQueueResponses];

export type RedriveMessageData = {
    body?: EditInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
        /**
         * Id of a message in this queue, as sending, receiving and looking answer it.
         */
        messageId: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/messages/{messageId}/redrive';
};

export type RedriveMessageErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `redrive_active`: A redrive or resend from this source is active; only one runs at a time.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type RedriveMessageError = RedriveMessageErrors[keyof RedriveMessageErrors];

export type RedriveMessageResponses = {
    /**
     * The redrive has begun
     */
    202: EditedRedrive;
};

export type RedriveMessageResponse = RedriveMessageResponses[keyof RedriveMessageResponses];

export type DeletePushConsumerData = {
    body?: never;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
        /**
         * Name of a push consumer, unique in its queue: 1 to 80 of `A-Z a-z 0-9 _ -`.
         */
        consumer: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/consumers/{consumer}';
};

export type DeletePushConsumerErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeletePushConsumerError = DeletePushConsumerErrors[keyof DeletePushConsumerErrors];

export type DeletePushConsumerResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeletePushConsumerResponse = DeletePushConsumerResponses[keyof DeletePushConsumerResponses];

export type GetPushConsumerData = {
    body?: never;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
        /**
         * Name of a push consumer, unique in its queue: 1 to 80 of `A-Z a-z 0-9 _ -`.
         */
        consumer: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/consumers/{consumer}';
};

export type GetPushConsumerErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetPushConsumerError = GetPushConsumerErrors[keyof GetPushConsumerErrors];

export type GetPushConsumerResponses = {
    /**
     * The consumer
     */
    200: PushConsumer;
};

export type GetPushConsumerResponse = GetPushConsumerResponses[keyof GetPushConsumerResponses];

export type UpdatePushConsumerData = {
    body: PushConsumerInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
        /**
         * Name of a push consumer, unique in its queue: 1 to 80 of `A-Z a-z 0-9 _ -`.
         */
        consumer: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/consumers/{consumer}';
};

export type UpdatePushConsumerErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type UpdatePushConsumerError = UpdatePushConsumerErrors[keyof UpdatePushConsumerErrors];

export type UpdatePushConsumerResponses = {
    /**
     * The consumer as it is now
     */
    200: PushConsumer;
};

export type UpdatePushConsumerResponse = UpdatePushConsumerResponses[keyof UpdatePushConsumerResponses];

export type CreatePushConsumerData = {
    body: PushConsumerInput;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
        /**
         * Name of a push consumer, unique in its queue: 1 to 80 of `A-Z a-z 0-9 _ -`.
         */
        consumer: string;
    };
    query?: never;
    url: '/v1/queues/{queue}/consumers/{consumer}';
};

export type CreatePushConsumerErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CreatePushConsumerError = CreatePushConsumerErrors[keyof CreatePushConsumerErrors];

export type CreatePushConsumerResponses = {
    /**
     * It existed: the members given are set
     */
    200: PushConsumer;
    /**
     * Created
     */
    201: PushConsumer;
};

export type CreatePushConsumerResponse = CreatePushConsumerResponses[keyof CreatePushConsumerResponses];

export type ListPushConsumersData = {
    body?: never;
    path: {
        /**
         * A queue by its name (1 to 80 of `A-Z a-z 0-9 _ -`, FIFO queues end in `.fifo`) or its ARN.
         */
        queue: string;
    };
    query?: {
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/queues/{queue}/consumers';
};

export type ListPushConsumersErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListPushConsumersError = ListPushConsumersErrors[keyof ListPushConsumersErrors];

export type ListPushConsumersResponses = {
    /**
     * A page, sorted by name
     */
    200: PushConsumerList;
};

export type ListPushConsumersResponse = ListPushConsumersResponses[keyof ListPushConsumersResponses];

export type ListRedrivesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only tasks that move out of this queue, by its name or ARN, or resends to this subscription, by its ARN.
         */
        source?: string;
        /**
         * Only tasks with this status. Default: all tasks.
         */
        status?: 'running' | 'paused' | 'canceling' | 'canceled' | 'completed' | 'failed';
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/redrives';
};

export type ListRedrivesErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListRedrivesError = ListRedrivesErrors[keyof ListRedrivesErrors];

export type ListRedrivesResponses = {
    /**
     * A page, newest first
     */
    200: RedriveList;
};

export type ListRedrivesResponse = ListRedrivesResponses[keyof ListRedrivesResponses];

export type StartRedriveData = {
    body: RedriveInput;
    path?: never;
    query?: never;
    url: '/v1/redrives';
};

export type StartRedriveErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `redrive_active`: A redrive or resend from this source is active; only one runs at a time.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type StartRedriveError = StartRedriveErrors[keyof StartRedriveErrors];

export type StartRedriveResponses = {
    /**
     * With dryRun: what would be moved
     */
    200: RedriveDryRun;
    /**
     * The task has begun
     */
    202: Redrive;
};

export type StartRedriveResponse = StartRedriveResponses[keyof StartRedriveResponses];

export type GetRedriveData = {
    body?: never;
    path: {
        /**
         * Id of a redrive task, as starting it answers.
         */
        id: string;
    };
    query?: never;
    url: '/v1/redrives/{id}';
};

export type GetRedriveErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetRedriveError = GetRedriveErrors[keyof GetRedriveErrors];

export type GetRedriveResponses = {
    /**
     * The task
     */
    200: Redrive;
};

export type GetRedriveResponse = GetRedriveResponses[keyof GetRedriveResponses];

export type UpdateRedriveData = {
    body: RedriveRateInput;
    path: {
        /**
         * Id of a redrive task, as starting it answers.
         */
        id: string;
    };
    query?: never;
    url: '/v1/redrives/{id}';
};

export type UpdateRedriveErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type UpdateRedriveError = UpdateRedriveErrors[keyof UpdateRedriveErrors];

export type UpdateRedriveResponses = {
    /**
     * The task as it is now
     */
    200: Redrive;
};

export type UpdateRedriveResponse = UpdateRedriveResponses[keyof UpdateRedriveResponses];

export type CancelRedriveData = {
    body?: NoMembers;
    path: {
        /**
         * Id of a redrive task, as starting it answers.
         */
        id: string;
    };
    query?: never;
    url: '/v1/redrives/{id}/cancel';
};

export type CancelRedriveErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CancelRedriveError = CancelRedriveErrors[keyof CancelRedriveErrors];

export type CancelRedriveResponses = {
    /**
     * The task as it is now
     */
    200: Redrive;
};

export type CancelRedriveResponse = CancelRedriveResponses[keyof CancelRedriveResponses];

export type PauseRedriveData = {
    body?: NoMembers;
    path: {
        /**
         * Id of a redrive task, as starting it answers.
         */
        id: string;
    };
    query?: never;
    url: '/v1/redrives/{id}/pause';
};

export type PauseRedriveErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PauseRedriveError = PauseRedriveErrors[keyof PauseRedriveErrors];

export type PauseRedriveResponses = {
    /**
     * The task as it is now
     */
    200: Redrive;
};

export type PauseRedriveResponse = PauseRedriveResponses[keyof PauseRedriveResponses];

export type ResumeRedriveData = {
    body?: NoMembers;
    path: {
        /**
         * Id of a redrive task, as starting it answers.
         */
        id: string;
    };
    query?: never;
    url: '/v1/redrives/{id}/resume';
};

export type ResumeRedriveErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ResumeRedriveError = ResumeRedriveErrors[keyof ResumeRedriveErrors];

export type ResumeRedriveResponses = {
    /**
     * The task as it is now
     */
    200: Redrive;
};

export type ResumeRedriveResponse = ResumeRedriveResponses[keyof ResumeRedriveResponses];

export type ListQuarantineData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/quarantine';
};

export type ListQuarantineErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListQuarantineError = ListQuarantineErrors[keyof ListQuarantineErrors];

export type ListQuarantineResponses = {
    /**
     * A page, by id
     */
    200: QuarantineList;
};

export type ListQuarantineResponse = ListQuarantineResponses[keyof ListQuarantineResponses];

export type DeleteQuarantineEntryData = {
    body?: never;
    path: {
        /**
         * Id of a quarantine entry, as the list shows it.
         */
        id: string;
    };
    query?: never;
    url: '/v1/quarantine/{id}';
};

export type DeleteQuarantineEntryErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeleteQuarantineEntryError = DeleteQuarantineEntryErrors[keyof DeleteQuarantineEntryErrors];

export type DeleteQuarantineEntryResponses = {
    /**
     * It is gone
     */
    204: void;
};

export type DeleteQuarantineEntryResponse = DeleteQuarantineEntryResponses[keyof DeleteQuarantineEntryResponses];

export type ExportQuarantineEntryData = {
    body?: never;
    path: {
        /**
         * Id of a quarantine entry, as the list shows it.
         */
        id: string;
    };
    query?: never;
    url: '/v1/quarantine/{id}';
};

export type ExportQuarantineEntryErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ExportQuarantineEntryError = ExportQuarantineEntryErrors[keyof ExportQuarantineEntryErrors];

export type ExportQuarantineEntryResponses = {
    /**
     * The entry
     */
    200: QuarantineExport;
};

export type ExportQuarantineEntryResponse = ExportQuarantineEntryResponses[keyof ExportQuarantineEntryResponses];

export type PutBackQuarantineEntryData = {
    body?: NoMembers;
    path: {
        /**
         * Id of a quarantine entry, as the list shows it.
         */
        id: string;
    };
    query?: never;
    url: '/v1/quarantine/{id}/put-back';
};

export type PutBackQuarantineEntryErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PutBackQuarantineEntryError = PutBackQuarantineEntryErrors[keyof PutBackQuarantineEntryErrors];

export type PutBackQuarantineEntryResponses = {
    /**
     * The entry’s content is under way again, and the entry is gone.
     */
    200: PutBackResult;
};

export type PutBackQuarantineEntryResponse = PutBackQuarantineEntryResponses[keyof PutBackQuarantineEntryResponses];

export type ListKeysData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/keys';
};

export type ListKeysErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListKeysError = ListKeysErrors[keyof ListKeysErrors];

export type ListKeysResponses = {
    /**
     * A page, sorted by account and id
     */
    200: KeyList;
};

export type ListKeysResponse = ListKeysResponses[keyof ListKeysResponses];

export type CreateKeyData = {
    body: NewKey;
    path?: never;
    query?: never;
    url: '/v1/keys';
};

export type CreateKeyErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CreateKeyError = CreateKeyErrors[keyof CreateKeyErrors];

export type CreateKeyResponses = {
    /**
     * Made; acts at once
     */
    201: CreatedKey;
};

export type CreateKeyResponse = CreateKeyResponses[keyof CreateKeyResponses];

export type RevokeKeyData = {
    body?: never;
    path: {
        /**
         * Id of an API key: `FK` and 18 of `A-Z 2-7`. It is not secret.
         */
        key: string;
    };
    query?: never;
    url: '/v1/keys/{key}';
};

export type RevokeKeyErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type RevokeKeyError = RevokeKeyErrors[keyof RevokeKeyErrors];

export type RevokeKeyResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type RevokeKeyResponse = RevokeKeyResponses[keyof RevokeKeyResponses];

export type GetKeyData = {
    body?: never;
    path: {
        /**
         * Id of an API key: `FK` and 18 of `A-Z 2-7`. It is not secret.
         */
        key: string;
    };
    query?: never;
    url: '/v1/keys/{key}';
};

export type GetKeyErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetKeyError = GetKeyErrors[keyof GetKeyErrors];

export type GetKeyResponses = {
    /**
     * The key, without its token
     */
    200: Key;
};

export type GetKeyResponse = GetKeyResponses[keyof GetKeyResponses];

export type ListQuotasData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/quotas';
};

export type ListQuotasErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListQuotasError = ListQuotasErrors[keyof ListQuotasErrors];

export type ListQuotasResponses = {
    /**
     * A page, sorted by prefix
     */
    200: QuotaList;
};

export type ListQuotasResponse = ListQuotasResponses[keyof ListQuotasResponses];

export type DeleteQuotaData = {
    body?: never;
    path: {
        /**
         * Beginning of names of topics, 1 to 256 of `A-Z a-z 0-9 _ -`, in the caller’s account.
         */
        prefix: string;
    };
    query?: never;
    url: '/v1/quotas/{prefix}';
};

export type DeleteQuotaErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeleteQuotaError = DeleteQuotaErrors[keyof DeleteQuotaErrors];

export type DeleteQuotaResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeleteQuotaResponse = DeleteQuotaResponses[keyof DeleteQuotaResponses];

export type GetQuotaData = {
    body?: never;
    path: {
        /**
         * Beginning of names of topics, 1 to 256 of `A-Z a-z 0-9 _ -`, in the caller’s account.
         */
        prefix: string;
    };
    query?: never;
    url: '/v1/quotas/{prefix}';
};

export type GetQuotaErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetQuotaError = GetQuotaErrors[keyof GetQuotaErrors];

export type GetQuotaResponses = {
    /**
     * The quota
     */
    200: Quota;
};

export type GetQuotaResponse = GetQuotaResponses[keyof GetQuotaResponses];

export type PutQuotaData = {
    body: QuotaSettings;
    path: {
        /**
         * Beginning of names of topics, 1 to 256 of `A-Z a-z 0-9 _ -`, in the caller’s account.
         */
        prefix: string;
    };
    query?: never;
    url: '/v1/quotas/{prefix}';
};

export type PutQuotaErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PutQuotaError = PutQuotaErrors[keyof PutQuotaErrors];

export type PutQuotaResponses = {
    /**
     * It existed: the bounds given are set
     */
    200: Quota;
    /**
     * Made
     */
    201: Quota;
};

export type PutQuotaResponse = PutQuotaResponses[keyof PutQuotaResponses];

export type LogOutData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/session';
};

export type LogOutErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type LogOutError = LogOutErrors[keyof LogOutErrors];

export type LogOutResponses = {
    /**
     * Ended, or there was none
     */
    204: void;
};

export type LogOutResponse = LogOutResponses[keyof LogOutResponses];

export type GetSessionData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/session';
};

export type GetSessionErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetSessionError = GetSessionErrors[keyof GetSessionErrors];

export type GetSessionResponses = {
    /**
     * The caller
     */
    200: Session;
};

export type GetSessionResponse = GetSessionResponses[keyof GetSessionResponses];

export type LogInData = {
    body: Login;
    path?: never;
    query?: never;
    url: '/v1/session';
};

export type LogInErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type LogInError = LogInErrors[keyof LogInErrors];

export type LogInResponses = {
    /**
     * Made; the session acts with the rights of its key
     */
    201: Session;
};

export type LogInResponse = LogInResponses[keyof LogInResponses];

export type ListSessionsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/sessions';
};

export type ListSessionsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListSessionsError = ListSessionsErrors[keyof ListSessionsErrors];

export type ListSessionsResponses = {
    /**
     * The sessions
     */
    200: SessionList;
};

export type ListSessionsResponse = ListSessionsResponses[keyof ListSessionsResponses];

export type EndSessionData = {
    body?: never;
    path: {
        /**
         * Id of a session, as the list of sessions has it. Or the id of a portal link.
         */
        session: string;
    };
    query?: never;
    url: '/v1/sessions/{session}';
};

export type EndSessionErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type EndSessionError = EndSessionErrors[keyof EndSessionErrors];

export type EndSessionResponses = {
    /**
     * It has ended, or there was none
     */
    204: void;
};

export type EndSessionResponse = EndSessionResponses[keyof EndSessionResponses];

export type CreatePortalLinkData = {
    body: PortalLinkInput;
    path?: never;
    query?: never;
    url: '/v1/portal-links';
};

export type CreatePortalLinkErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CreatePortalLinkError = CreatePortalLinkErrors[keyof CreatePortalLinkErrors];

export type CreatePortalLinkResponses = {
    /**
     * Made; hand the URL to the customer
     */
    201: PortalLink;
};

export type CreatePortalLinkResponse = CreatePortalLinkResponses[keyof CreatePortalLinkResponses];

export type EndPortalSessionData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/portal/session';
};

export type EndPortalSessionErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type EndPortalSessionError = EndPortalSessionErrors[keyof EndPortalSessionErrors];

export type EndPortalSessionResponses = {
    /**
     * The session has ended
     */
    204: void;
};

export type EndPortalSessionResponse = EndPortalSessionResponses[keyof EndPortalSessionResponses];

export type GetPortalSessionData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/portal/session';
};

export type GetPortalSessionErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetPortalSessionError = GetPortalSessionErrors[keyof GetPortalSessionErrors];

export type GetPortalSessionResponses = {
    /**
     * The session
     */
    200: PortalSession;
};

export type GetPortalSessionResponse = GetPortalSessionResponses[keyof GetPortalSessionResponses];

export type RedeemPortalLinkData = {
    body: PortalRedeemInput;
    path?: never;
    query?: never;
    url: '/v1/portal/session';
};

export type RedeemPortalLinkErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type RedeemPortalLinkError = RedeemPortalLinkErrors[keyof RedeemPortalLinkErrors];

export type RedeemPortalLinkResponses = {
    /**
     * The session has begun
     */
    201: CreatedPortalSession;
};

export type RedeemPortalLinkResponse = RedeemPortalLinkResponses[keyof RedeemPortalLinkResponses];

export type ListPortalTopicsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/portal/topics';
};

export type ListPortalTopicsErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListPortalTopicsError = ListPortalTopicsErrors[keyof ListPortalTopicsErrors];

export type ListPortalTopicsResponses = {
    /**
     * The names
     */
    200: PortalTopicList;
};

export type ListPortalTopicsResponse = ListPortalTopicsResponses[keyof ListPortalTopicsResponses];

export type ListPortalEndpointsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only endpoints of the topic with this name.
         */
        topic?: string;
        /**
         * Only endpoints that get messages of this event type.
         */
        eventType?: string;
        /**
         * failing: attempts fail, or nothing can be sent. working: all others, also before the first message.
         */
        state?: 'working' | 'failing' | 'paused' | 'pending';
        /**
         * Only endpoints with this text in their name or address, in upper or lower case.
         */
        q?: string;
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/portal/endpoints';
};

export type ListPortalEndpointsErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListPortalEndpointsError = ListPortalEndpointsErrors[keyof ListPortalEndpointsErrors];

export type ListPortalEndpointsResponses = {
    /**
     * A page
     */
    200: PortalEndpointList;
};

export type ListPortalEndpointsResponse = ListPortalEndpointsResponses[keyof ListPortalEndpointsResponses];

export type AddPortalEndpointData = {
    body: PortalEndpointInput;
    path?: never;
    query?: never;
    url: '/v1/portal/endpoints';
};

export type AddPortalEndpointErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     *
     * `quota_exceeded`: A quota allows no more of this; `message` names the quota. Delete some, or ask the operator.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `subscription_exists`: The topic has a subscription with this endpoint and other settings.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type AddPortalEndpointError = AddPortalEndpointErrors[keyof AddPortalEndpointErrors];

export type AddPortalEndpointResponses = {
    /**
     * The endpoint gets messages from now on
     */
    201: CreatedPortalEndpoint;
};

export type AddPortalEndpointResponse = AddPortalEndpointResponses[keyof AddPortalEndpointResponses];

export type DeletePortalEndpointData = {
    body?: never;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}';
};

export type DeletePortalEndpointErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeletePortalEndpointError = DeletePortalEndpointErrors[keyof DeletePortalEndpointErrors];

export type DeletePortalEndpointResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeletePortalEndpointResponse = DeletePortalEndpointResponses[keyof DeletePortalEndpointResponses];

export type GetPortalEndpointData = {
    body?: never;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}';
};

export type GetPortalEndpointErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetPortalEndpointError = GetPortalEndpointErrors[keyof GetPortalEndpointErrors];

export type GetPortalEndpointResponses = {
    /**
     * The endpoint
     */
    200: PortalEndpoint;
};

export type GetPortalEndpointResponse = GetPortalEndpointResponses[keyof GetPortalEndpointResponses];

export type ChangePortalEndpointData = {
    body: PortalEndpointChange;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}';
};

export type ChangePortalEndpointErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `subscription_exists`: The topic has a subscription with this endpoint and other settings.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ChangePortalEndpointError = ChangePortalEndpointErrors[keyof ChangePortalEndpointErrors];

export type ChangePortalEndpointResponses = {
    /**
     * The endpoint as it is now
     */
    200: PortalEndpoint;
};

export type ChangePortalEndpointResponse = ChangePortalEndpointResponses[keyof ChangePortalEndpointResponses];

export type ListPortalEventTypesData = {
    body?: never;
    path: {
        /**
         * Name of a topic of the portal session.
         */
        topic: string;
    };
    query?: never;
    url: '/v1/portal/topics/{topic}/event-types';
};

export type ListPortalEventTypesErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListPortalEventTypesError = ListPortalEventTypesErrors[keyof ListPortalEventTypesErrors];

export type ListPortalEventTypesResponses = {
    /**
     * The event types
     */
    200: PortalEventTypeList;
};

export type ListPortalEventTypesResponse = ListPortalEventTypesResponses[keyof ListPortalEventTypesResponses];

export type GetPortalEventTypeData = {
    body?: never;
    path: {
        /**
         * Name of a topic of the portal session.
         */
        topic: string;
        /**
         * Name of an event type: segments of `A-Z a-z 0-9 _ -` joined by dots, like `order.paid`.
         */
        name: string;
    };
    query?: never;
    url: '/v1/portal/topics/{topic}/event-types/{name}';
};

export type GetPortalEventTypeErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetPortalEventTypeError = GetPortalEventTypeErrors[keyof GetPortalEventTypeErrors];

export type GetPortalEventTypeResponses = {
    /**
     * The event type
     */
    200: PortalEventType;
};

export type GetPortalEventTypeResponse = GetPortalEventTypeResponses[keyof GetPortalEventTypeResponses];

export type PausePortalEndpointData = {
    body?: NoMembers;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/pause';
};

export type PausePortalEndpointErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PausePortalEndpointError = PausePortalEndpointErrors[keyof PausePortalEndpointErrors];

export type PausePortalEndpointResponses = {
    /**
     * The endpoint as it is now
     */
    200: PortalEndpoint;
};

export type PausePortalEndpointResponse = PausePortalEndpointResponses[keyof PausePortalEndpointResponses];

export type ResumePortalEndpointData = {
    body?: NoMembers;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/resume';
};

export type ResumePortalEndpointErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ResumePortalEndpointError = ResumePortalEndpointErrors[keyof ResumePortalEndpointErrors];

export type ResumePortalEndpointResponses = {
    /**
     * The endpoint as it is now
     */
    200: PortalEndpoint;
};

export type ResumePortalEndpointResponse = ResumePortalEndpointResponses[keyof ResumePortalEndpointResponses];

export type TestPortalEndpointData = {
    body?: PortalTestInput;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/test';
};

export type TestPortalEndpointErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type TestPortalEndpointError = TestPortalEndpointErrors[keyof TestPortalEndpointErrors];

export type TestPortalEndpointResponses = {
    /**
     * The attempt was made
     */
    200: PortalTest;
};

export type TestPortalEndpointResponse = TestPortalEndpointResponses[keyof TestPortalEndpointResponses];

export type RotatePortalKeyData = {
    body?: NoMembers;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/rotate-key';
};

export type RotatePortalKeyErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type RotatePortalKeyError = RotatePortalKeyErrors[keyof RotatePortalKeyErrors];

export type RotatePortalKeyResponses = {
    /**
     * The key signs at once
     */
    201: CreatedWebhookKey;
};

export type RotatePortalKeyResponse = RotatePortalKeyResponses[keyof RotatePortalKeyResponses];

export type ListPortalMessagesData = {
    body?: never;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: {
        /**
         * waiting: it will be attempted. failed: it was given up.
         */
        state?: 'delivered' | 'waiting' | 'failed';
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/portal/endpoints/{id}/messages';
};

export type ListPortalMessagesErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListPortalMessagesError = ListPortalMessagesErrors[keyof ListPortalMessagesErrors];

export type ListPortalMessagesResponses = {
    /**
     * A part of the messages
     */
    200: PortalMessageList;
};

export type ListPortalMessagesResponse = ListPortalMessagesResponses[keyof ListPortalMessagesResponses];

export type GetPortalMessageData = {
    body?: never;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
        /**
         * Id of a published message: a UUID, as publishing answers it.
         */
        messageId: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/messages/{messageId}';
};

export type GetPortalMessageErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetPortalMessageError = GetPortalMessageErrors[keyof GetPortalMessageErrors];

export type GetPortalMessageResponses = {
    /**
     * The message
     */
    200: PortalMessageDetail;
};

export type GetPortalMessageResponse = GetPortalMessageResponses[keyof GetPortalMessageResponses];

export type ResendPortalMessageData = {
    body?: NoMembers;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
        /**
         * Id of a published message: a UUID, as publishing answers it.
         */
        messageId: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/messages/{messageId}/resend';
};

export type ResendPortalMessageErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `redrive_active`: A redrive or resend from this source is active; only one runs at a time.
     *
     * `wrong_state`: The resource is in a state that does not allow this action, such as a task that has ended.
     */
    409: Error;
    /**
     * `body_gone`: The message is known, and its text is not kept; `message` says why.
     */
    410: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ResendPortalMessageError = ResendPortalMessageErrors[keyof ResendPortalMessageErrors];

export type ResendPortalMessageResponses = {
    /**
     * It is on its way
     */
    202: PortalResend;
};

export type ResendPortalMessageResponse = ResendPortalMessageResponses[keyof ResendPortalMessageResponses];

export type ListPortalAttemptsData = {
    body?: never;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/attempts';
};

export type ListPortalAttemptsErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListPortalAttemptsError = ListPortalAttemptsErrors[keyof ListPortalAttemptsErrors];

export type ListPortalAttemptsResponses = {
    /**
     * The attempts
     */
    200: PortalAttemptList;
};

export type ListPortalAttemptsResponse = ListPortalAttemptsResponses[keyof ListPortalAttemptsResponses];

export type ListPortalDeadLettersData = {
    body?: never;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/dead-letters';
};

export type ListPortalDeadLettersErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListPortalDeadLettersError = ListPortalDeadLettersErrors[keyof ListPortalDeadLettersErrors];

export type ListPortalDeadLettersResponses = {
    /**
     * The dead letters
     */
    200: PortalDeadLetterList;
};

export type ListPortalDeadLettersResponse = ListPortalDeadLettersResponses[keyof ListPortalDeadLettersResponses];

export type GetPortalStatsData = {
    body?: never;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/stats';
};

export type GetPortalStatsErrors = {
    /**
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetPortalStatsError = GetPortalStatsErrors[keyof GetPortalStatsErrors];

export type GetPortalStatsResponses = {
    /**
     * The figures
     */
    200: PortalStats;
};

export type GetPortalStatsResponse = GetPortalStatsResponses[keyof GetPortalStatsResponses];

export type RedrivePortalEndpointData = {
    body?: PortalRedriveInput;
    path: {
        /**
         * Id of an endpoint of the portal session.
         */
        id: string;
    };
    query?: never;
    url: '/v1/portal/endpoints/{id}/redrive';
};

export type RedrivePortalEndpointErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `redrive_active`: A redrive or resend from this source is active; only one runs at a time.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type RedrivePortalEndpointError = RedrivePortalEndpointErrors[keyof RedrivePortalEndpointErrors];

export type RedrivePortalEndpointResponses = {
    /**
     * How many it would be (`dryRun`)
     */
    200: PortalRedrive;
    /**
     * The redrive has begun
     */
    202: PortalRedrive;
};

export type RedrivePortalEndpointResponse = RedrivePortalEndpointResponses[keyof RedrivePortalEndpointResponses];

export type ListAuditData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only lines of the key with this id; also `anonymous` or `command line`.
         */
        key?: string;
        /**
         * Only lines whose action contains this text, in any case: `DELETE`, `SNS:CreateTopic`.
         */
        action?: string;
        /**
         * Only lines that name something whose name, id or ARN contains this text.
         */
        resource?: string;
        /**
         * Only what was asked for at this time or later: ISO 8601 with an offset.
         */
        since?: string;
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/audit';
};

export type ListAuditErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListAuditError = ListAuditErrors[keyof ListAuditErrors];

export type ListAuditResponses = {
    /**
     * A page
     */
    200: AuditList;
};

export type ListAuditResponse = ListAuditResponses[keyof ListAuditResponses];

export type ListPlatformApplicationsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/platform-applications';
};

export type ListPlatformApplicationsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListPlatformApplicationsError = ListPlatformApplicationsErrors[keyof ListPlatformApplicationsErrors];

export type ListPlatformApplicationsResponses = {
    /**
     * A page, sorted by ARN
     */
    200: PlatformApplicationList;
};

export type ListPlatformApplicationsResponse = ListPlatformApplicationsResponses[keyof ListPlatformApplicationsResponses];

export type DeletePlatformApplicationData = {
    body?: never;
    path: {
        /**
         * Platform of the application: `GCM` (Firebase), `APNS`, `APNS_SANDBOX`, or `WEBPUSH` for browsers.
         */
        platform: string;
        /**
         * Name of the application: 1 to 256 of `A-Z a-z 0-9 _ - .`.
         */
        name: string;
    };
    query?: never;
    url: '/v1/platform-applications/{platform}/{name}';
};

export type DeletePlatformApplicationErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeletePlatformApplicationError = DeletePlatformApplicationErrors[keyof DeletePlatformApplicationErrors];

export type DeletePlatformApplicationResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeletePlatformApplicationResponse = DeletePlatformApplicationResponses[keyof DeletePlatformApplicationResponses];

export type GetPlatformApplicationData = {
    body?: never;
    path: {
        /**
         * Platform of the application: `GCM` (Firebase), `APNS`, `APNS_SANDBOX`, or `WEBPUSH` for browsers.
         */
        platform: string;
        /**
         * Name of the application: 1 to 256 of `A-Z a-z 0-9 _ - .`.
         */
        name: string;
    };
    query?: never;
    url: '/v1/platform-applications/{platform}/{name}';
};

export type GetPlatformApplicationErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetPlatformApplicationError = GetPlatformApplicationErrors[keyof GetPlatformApplicationErrors];

export type GetPlatformApplicationResponses = {
    /**
     * The application
     */
    200: PlatformApplication;
};

export type GetPlatformApplicationResponse = GetPlatformApplicationResponses[keyof GetPlatformApplicationResponses];

export type PutPlatformApplicationData = {
    body: PlatformApplicationSettings;
    path: {
        /**
         * Platform of the application: `GCM` (Firebase), `APNS`, `APNS_SANDBOX`, or `WEBPUSH` for browsers.
         */
        platform: string;
        /**
         * Name of the application: 1 to 256 of `A-Z a-z 0-9 _ - .`.
         */
        name: string;
    };
    query?: never;
    url: '/v1/platform-applications/{platform}/{name}';
};

export type PutPlatformApplicationErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `not_supported`: This server is not set up for what was asked.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `key_unavailable`: The server lacks the key that seals or opens messages and secrets; nothing was stored.
     *
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type PutPlatformApplicationError = PutPlatformApplicationErrors[keyof PutPlatformApplicationErrors];

export type PutPlatformApplicationResponses = {
    /**
     * It existed: the members given are set
     */
    200: PlatformApplication;
    /**
     * Created
     */
    201: PlatformApplication;
};

export type PutPlatformApplicationResponse = PutPlatformApplicationResponses[keyof PutPlatformApplicationResponses];

export type ListPlatformEndpointsData = {
    body?: never;
    path: {
        /**
         * Platform of the application: `GCM` (Firebase), `APNS`, `APNS_SANDBOX`, or `WEBPUSH` for browsers.
         */
        platform: string;
        /**
         * Name of the application: 1 to 256 of `A-Z a-z 0-9 _ - .`.
         */
        name: string;
    };
    query?: {
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/platform-applications/{platform}/{name}/endpoints';
};

export type ListPlatformEndpointsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListPlatformEndpointsError = ListPlatformEndpointsErrors[keyof ListPlatformEndpointsErrors];

export type ListPlatformEndpointsResponses = {
    /**
     * A page, sorted by id
     */
    200: PlatformEndpointList;
};

export type ListPlatformEndpointsResponse = ListPlatformEndpointsResponses[keyof ListPlatformEndpointsResponses];

export type CreatePlatformEndpointData = {
    body: NewPlatformEndpoint;
    path: {
        /**
         * Platform of the application: `GCM` (Firebase), `APNS`, `APNS_SANDBOX`, or `WEBPUSH` for browsers.
         */
        platform: string;
        /**
         * Name of the application: 1 to 256 of `A-Z a-z 0-9 _ - .`.
         */
        name: string;
    };
    query?: never;
    url: '/v1/platform-applications/{platform}/{name}/endpoints';
};

export type CreatePlatformEndpointErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type CreatePlatformEndpointError = CreatePlatformEndpointErrors[keyof CreatePlatformEndpointErrors];

export type CreatePlatformEndpointResponses = {
    /**
     * The token was registered with the same members
     */
    200: PlatformEndpoint;
    /**
     * Registered
     */
    201: PlatformEndpoint;
};

export type CreatePlatformEndpointResponse = CreatePlatformEndpointResponses[keyof CreatePlatformEndpointResponses];

export type DeletePlatformEndpointData = {
    body?: never;
    path: {
        /**
         * Platform of the application: `GCM` (Firebase), `APNS`, `APNS_SANDBOX`, or `WEBPUSH` for browsers.
         */
        platform: string;
        /**
         * Name of the application: 1 to 256 of `A-Z a-z 0-9 _ - .`.
         */
        name: string;
        /**
         * Id of the endpoint, the end of its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/platform-applications/{platform}/{name}/endpoints/{id}';
};

export type DeletePlatformEndpointErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type DeletePlatformEndpointError = DeletePlatformEndpointErrors[keyof DeletePlatformEndpointErrors];

export type DeletePlatformEndpointResponses = {
    /**
     * Gone, or there was none
     */
    204: void;
};

export type DeletePlatformEndpointResponse = DeletePlatformEndpointResponses[keyof DeletePlatformEndpointResponses];

export type GetPlatformEndpointData = {
    body?: never;
    path: {
        /**
         * Platform of the application: `GCM` (Firebase), `APNS`, `APNS_SANDBOX`, or `WEBPUSH` for browsers.
         */
        platform: string;
        /**
         * Name of the application: 1 to 256 of `A-Z a-z 0-9 _ - .`.
         */
        name: string;
        /**
         * Id of the endpoint, the end of its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/platform-applications/{platform}/{name}/endpoints/{id}';
};

export type GetPlatformEndpointErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetPlatformEndpointError = GetPlatformEndpointErrors[keyof GetPlatformEndpointErrors];

export type GetPlatformEndpointResponses = {
    /**
     * The endpoint
     */
    200: PlatformEndpoint;
};

export type GetPlatformEndpointResponse = GetPlatformEndpointResponses[keyof GetPlatformEndpointResponses];

export type UpdatePlatformEndpointData = {
    body: PlatformEndpointSettings;
    path: {
        /**
         * Platform of the application: `GCM` (Firebase), `APNS`, `APNS_SANDBOX`, or `WEBPUSH` for browsers.
         */
        platform: string;
        /**
         * Name of the application: 1 to 256 of `A-Z a-z 0-9 _ - .`.
         */
        name: string;
        /**
         * Id of the endpoint, the end of its ARN.
         */
        id: string;
    };
    query?: never;
    url: '/v1/platform-applications/{platform}/{name}/endpoints/{id}';
};

export type UpdatePlatformEndpointErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type UpdatePlatformEndpointError = UpdatePlatformEndpointErrors[keyof UpdatePlatformEndpointErrors];

export type UpdatePlatformEndpointResponses = {
    /**
     * The endpoint as it is now
     */
    200: PlatformEndpoint;
};

export type UpdatePlatformEndpointResponse = UpdatePlatformEndpointResponses[keyof UpdatePlatformEndpointResponses];

export type ListSuppressionsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/email/suppressions';
};

export type ListSuppressionsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListSuppressionsError = ListSuppressionsErrors[keyof ListSuppressionsErrors];

export type ListSuppressionsResponses = {
    /**
     * A page, by address
     */
    200: SuppressionList;
};

export type ListSuppressionsResponse = ListSuppressionsResponses[keyof ListSuppressionsResponses];

export type ReleaseAddressData = {
    body?: never;
    path: {
        /**
         * A mail address; its case does not matter.
         */
        address: string;
    };
    query?: never;
    url: '/v1/email/suppressions/{address}';
};

export type ReleaseAddressErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ReleaseAddressError = ReleaseAddressErrors[keyof ReleaseAddressErrors];

export type ReleaseAddressResponses = {
    /**
     * It is no longer on the list
     */
    204: void;
};

export type ReleaseAddressResponse = ReleaseAddressResponses[keyof ReleaseAddressResponses];

export type SuppressAddressData = {
    body?: NewSuppression;
    path: {
        /**
         * A mail address; its case does not matter.
         */
        address: string;
    };
    query?: never;
    url: '/v1/email/suppressions/{address}';
};

export type SuppressAddressErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type SuppressAddressError = SuppressAddressErrors[keyof SuppressAddressErrors];

export type SuppressAddressResponses = {
    /**
     * It was on the list
     */
    200: Suppression;
    /**
     * It is on the list
     */
    201: Suppression;
};

export type SuppressAddressResponse = SuppressAddressResponses[keyof SuppressAddressResponses];

export type ImportBouncesData = {
    body: Bounces;
    path?: never;
    query?: never;
    url: '/v1/email/bounces';
};

export type ImportBouncesErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ImportBouncesError = ImportBouncesErrors[keyof ImportBouncesErrors];

export type ImportBouncesResponses = {
    /**
     * How many addresses were added
     */
    200: BouncesResult;
};

export type ImportBouncesResponse = ImportBouncesResponses[keyof ImportBouncesResponses];

export type ShowConfirmationData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Which topic the mail asks about. The token alone decides.
         */
        TopicArn?: string;
        /**
         * Token of the subscription; ConfirmSubscription takes it, too.
         */
        Token?: string;
        /**
         * The address that the mail went to.
         */
        Endpoint?: string;
    };
    url: '/confirmation.html';
};

export type ShowConfirmationErrors = {
    /**
     * A page that says that the link is not valid
     */
    400: string;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ShowConfirmationError = ShowConfirmationErrors[keyof ShowConfirmationErrors];

export type ShowConfirmationResponses = {
    /**
     * A page with a button, or that the subscription is confirmed
     */
    200: string;
};

export type ShowConfirmationResponse = ShowConfirmationResponses[keyof ShowConfirmationResponses];

export type ConfirmByLinkData = {
    /**
     * The form that a mail program sends for a one-click unsubscribe (RFC 8058). Fantail does not read it.
     */
    body: {
        [key: string]: string;
    };
    path?: never;
    query?: {
        /**
         * Which topic the mail asks about. The token alone decides.
         */
        TopicArn?: string;
        /**
         * Token of the subscription; ConfirmSubscription takes it, too.
         */
        Token?: string;
        /**
         * The address that the mail went to.
         */
        Endpoint?: string;
    };
    url: '/confirmation.html';
};

export type ConfirmByLinkErrors = {
    /**
     * A page that says that the link is not valid
     */
    400: string;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ConfirmByLinkError = ConfirmByLinkErrors[keyof ConfirmByLinkErrors];

export type ConfirmByLinkResponses = {
    /**
     * A page that says that the subscription is confirmed
     */
    200: string;
};

export type ConfirmByLinkResponse = ConfirmByLinkResponses[keyof ConfirmByLinkResponses];

export type ShowUnsubscribeData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Which subscription the link ends.
         */
        SubscriptionArn?: string;
        /**
         * Proof that the link was made by this service.
         */
        Token?: string;
    };
    url: '/unsubscribe.html';
};

export type ShowUnsubscribeErrors = {
    /**
     * A page that says that the link is not valid
     */
    400: string;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ShowUnsubscribeError = ShowUnsubscribeErrors[keyof ShowUnsubscribeErrors];

export type ShowUnsubscribeResponses = {
    /**
     * A page with a button, or that the subscription is gone
     */
    200: string;
};

export type ShowUnsubscribeResponse = ShowUnsubscribeResponses[keyof ShowUnsubscribeResponses];

export type UnsubscribeByLinkData = {
    /**
     * The form that a mail program sends for a one-click unsubscribe (RFC 8058). Fantail does not read it.
     */
    body: {
        [key: string]: string;
    };
    path?: never;
    query?: {
        /**
         * Which subscription the link ends.
         */
        SubscriptionArn?: string;
        /**
         * Proof that the link was made by this service.
         */
        Token?: string;
    };
    url: '/unsubscribe.html';
};

export type UnsubscribeByLinkErrors = {
    /**
     * A page that says that the link is not valid
     */
    400: string;
    /**
     * A page that says that only the owner may remove it
     */
    403: string;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type UnsubscribeByLinkError = UnsubscribeByLinkErrors[keyof UnsubscribeByLinkErrors];

export type UnsubscribeByLinkResponses = {
    /**
     * A page that says that the subscription is removed
     */
    200: string;
};

export type UnsubscribeByLinkResponse = UnsubscribeByLinkResponses[keyof UnsubscribeByLinkResponses];

export type GetSmsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/sms';
};

export type GetSmsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetSmsError = GetSmsErrors[keyof GetSmsErrors];

export type GetSmsResponses = {
    /**
     * Settings and spend
     */
    200: Sms;
};

export type GetSmsResponse = GetSmsResponses[keyof GetSmsResponses];

export type ChangeSmsData = {
    body: SmsChanges;
    path?: never;
    query?: never;
    url: '/v1/sms';
};

export type ChangeSmsErrors = {
    /**
     * `malformed_json`: The body is not JSON, not UTF-8, nested too deeply, has too many values, or ended early.
     *
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `too_large`: The body or a message is larger than its limit.
     */
    413: Error;
    /**
     * `unsupported_media_type`: The body must be JSON, with `Content-Type: application/json`.
     */
    415: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ChangeSmsError = ChangeSmsErrors[keyof ChangeSmsErrors];

export type ChangeSmsResponses = {
    /**
     * Settings and spend
     */
    200: Sms;
};

export type ChangeSmsResponse = ChangeSmsResponses[keyof ChangeSmsResponses];

export type ListOptOutsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Items per page, 1 to 100; default 100.
         */
        limit?: number;
        /**
         * Continues a list: the `nextCursor` of the page before. Leave it out for the first page.
         */
        cursor?: string;
    };
    url: '/v1/sms/opt-outs';
};

export type ListOptOutsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type ListOptOutsError = ListOptOutsErrors[keyof ListOptOutsErrors];

export type ListOptOutsResponses = {
    /**
     * A page, by number
     */
    200: OptOutList;
};

export type ListOptOutsResponse = ListOptOutsResponses[keyof ListOptOutsResponses];

export type OptInData = {
    body?: never;
    path: {
        /**
         * A phone number by E.164: `+15550100`.
         */
        number: string;
    };
    query?: never;
    url: '/v1/sms/opt-outs/{number}';
};

export type OptInErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type OptInError = OptInErrors[keyof OptInErrors];

export type OptInResponses = {
    /**
     * It is not opted out
     */
    204: void;
};

export type OptInResponse = OptInResponses[keyof OptInResponses];

export type GetOptOutData = {
    body?: never;
    path: {
        /**
         * A phone number by E.164: `+15550100`.
         */
        number: string;
    };
    query?: never;
    url: '/v1/sms/opt-outs/{number}';
};

export type GetOptOutErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetOptOutError = GetOptOutErrors[keyof GetOptOutErrors];

export type GetOptOutResponses = {
    /**
     * It is opted out
     */
    200: OptOut;
};

export type GetOptOutResponse = GetOptOutResponses[keyof GetOptOutResponses];

export type OptOutData = {
    body?: never;
    path: {
        /**
         * A phone number by E.164: `+15550100`.
         */
        number: string;
    };
    query?: never;
    url: '/v1/sms/opt-outs/{number}';
};

export type OptOutErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `conflict`: The request contradicts what is stored, reaches a limit, or meets another change; `message` says which.
     */
    409: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_full`: Redis is out of memory; nothing was changed. Try again after `Retry-After`.
     *
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type OptOutError = OptOutErrors[keyof OptOutErrors];

export type OptOutResponses = {
    /**
     * It is opted out
     */
    200: OptOut;
};

export type OptOutResponse = OptOutResponses[keyof OptOutResponses];

export type GetHealthData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/healthz';
};

export type GetHealthErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetHealthError = GetHealthErrors[keyof GetHealthErrors];

export type GetHealthResponses = {
    /**
     * It does
     */
    200: Health;
};

export type GetHealthResponse = GetHealthResponses[keyof GetHealthResponses];

export type GetReadinessData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/readyz';
};

export type GetReadinessErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * It cannot: the checks say why
     */
    503: Readiness;
};

export type GetReadinessError = GetReadinessErrors[keyof GetReadinessErrors];

export type GetReadinessResponses = {
    /**
     * It can
     */
    200: Readiness;
};

export type GetReadinessResponse = GetReadinessResponses[keyof GetReadinessResponses];

export type GetMetricsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/metrics';
};

export type GetMetricsErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `unauthorized`: The request carries no valid API key.
     */
    401: Error;
    /**
     * `forbidden`: The caller may not do this; for a browser: the page is of another site.
     */
    403: Error;
    /**
     * `rate_limited`: Too many requests, or too much work is waiting; try again after `Retry-After`.
     */
    429: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetMetricsError = GetMetricsErrors[keyof GetMetricsErrors];

export type GetMetricsResponses = {
    /**
     * The text format
     */
    200: string;
};

export type GetMetricsResponse = GetMetricsResponses[keyof GetMetricsResponses];

export type FollowAwsLinkData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Operation to call, like `ConfirmSubscription`. Its parameters follow.
         */
        Action?: string;
        /**
         * Version of the service’s API: `2010-03-31` for SNS, `2012-11-05` for SQS. Links leave it out.
         */
        Version?: string;
    };
    url: '/';
};

export type FollowAwsLinkErrors = {
    /**
     * Refused: `InvalidParameter`, `InvalidAction`, …
     */
    400: string;
    /**
     * Not allowed: `AuthorizationError`, `SignatureDoesNotMatch`, …
     */
    403: string;
    /**
     * `NotFound`; a GET of a queue’s URL without Action
     */
    404: string;
    /**
     * `RequestEntityTooLarge`
     */
    413: string;
    /**
     * `UnsupportedMediaType`
     */
    415: string;
    /**
     * `Throttled`
     */
    429: string;
    /**
     * `InternalFailure`
     */
    500: string;
    /**
     * `ServiceUnavailable`
     */
    503: string;
};

export type FollowAwsLinkError = FollowAwsLinkErrors[keyof FollowAwsLinkErrors];

export type FollowAwsLinkResponses = {
    /**
     * Done; XML, or JSON for AWS JSON and where `Accept` asks AWS Query for it
     */
    200: string;
};

export type FollowAwsLinkResponse = FollowAwsLinkResponses[keyof FollowAwsLinkResponses];

export type CallAwsData = {
    /**
     * AWS Query: `Action`, `Version` and the operation’s parameters.
     */
    body: {
        [key: string]: string;
    };
    path?: never;
    query?: never;
    url: '/';
};

export type CallAwsErrors = {
    /**
     * Refused: `InvalidParameter`, `InvalidAction`, …
     */
    400: string;
    /**
     * Not allowed: `AuthorizationError`, `SignatureDoesNotMatch`, …
     */
    403: string;
    /**
     * `NotFound`; a GET of a queue’s URL without Action
     */
    404: string;
    /**
     * `RequestEntityTooLarge`
     */
    413: string;
    /**
     * `UnsupportedMediaType`
     */
    415: string;
    /**
     * `Throttled`
     */
    429: string;
    /**
     * `InternalFailure`
     */
    500: string;
    /**
     * `ServiceUnavailable`
     */
    503: string;
};

export type CallAwsError = CallAwsErrors[keyof CallAwsErrors];

export type CallAwsResponses = {
    /**
     * Done; XML, or JSON for AWS JSON and where `Accept` asks AWS Query for it
     */
    200: string;
};

export type CallAwsResponse = CallAwsResponses[keyof CallAwsResponses];

export type CallAwsQueueByLinkData = {
    body?: never;
    path: {
        /**
         * Account that the queue belongs to: 12 digits.
         */
        account: string;
        /**
         * Plain name of the queue, as its URL ends.
         */
        queue: string;
    };
    query?: {
        /**
         * Operation to call, like `ConfirmSubscription`. Its parameters follow.
         */
        Action?: string;
        /**
         * Version of the service’s API: `2010-03-31` for SNS, `2012-11-05` for SQS. Links leave it out.
         */
        Version?: string;
    };
    url: '/{account}/{queue}';
};

export type CallAwsQueueByLinkErrors = {
    /**
     * Refused: `InvalidParameter`, `InvalidAction`, …
     */
    400: string;
    /**
     * Not allowed: `AuthorizationError`, `SignatureDoesNotMatch`, …
     */
    403: string;
    /**
     * `NotFound`; a GET of a queue’s URL without Action
     */
    404: string;
    /**
     * `RequestEntityTooLarge`
     */
    413: string;
    /**
     * `UnsupportedMediaType`
     */
    415: string;
    /**
     * `Throttled`
     */
    429: string;
    /**
     * `InternalFailure`
     */
    500: string;
    /**
     * `ServiceUnavailable`
     */
    503: string;
};

export type CallAwsQueueByLinkError = CallAwsQueueByLinkErrors[keyof CallAwsQueueByLinkErrors];

export type CallAwsQueueByLinkResponses = {
    /**
     * Done; XML, or JSON for AWS JSON and where `Accept` asks AWS Query for it
     */
    200: string;
};

export type CallAwsQueueByLinkResponse = CallAwsQueueByLinkResponses[keyof CallAwsQueueByLinkResponses];

export type CallAwsQueueData = {
    /**
     * AWS Query: `Action`, `Version` and the operation’s parameters.
     */
    body: {
        [key: string]: string;
    };
    path: {
        /**
         * Account that the queue belongs to: 12 digits.
         */
        account: string;
        /**
         * Plain name of the queue, as its URL ends.
         */
        queue: string;
    };
    query?: never;
    url: '/{account}/{queue}';
};

export type CallAwsQueueErrors = {
    /**
     * Refused: `InvalidParameter`, `InvalidAction`, …
     */
    400: string;
    /**
     * Not allowed: `AuthorizationError`, `SignatureDoesNotMatch`, …
     */
    403: string;
    /**
     * `NotFound`; a GET of a queue’s URL without Action
     */
    404: string;
    /**
     * `RequestEntityTooLarge`
     */
    413: string;
    /**
     * `UnsupportedMediaType`
     */
    415: string;
    /**
     * `Throttled`
     */
    429: string;
    /**
     * `InternalFailure`
     */
    500: string;
    /**
     * `ServiceUnavailable`
     */
    503: string;
};

export type CallAwsQueueError = CallAwsQueueErrors[keyof CallAwsQueueErrors];

export type CallAwsQueueResponses = {
    /**
     * Done; XML, or JSON for AWS JSON and where `Accept` asks AWS Query for it
     */
    200: string;
};

export type CallAwsQueueResponse = CallAwsQueueResponses[keyof CallAwsQueueResponses];

export type GetSigningCertificateData = {
    body?: never;
    path: {
        /**
         * Name of the certificate: 32 hex digits, as `SigningCertURL` has it.
         */
        name: string;
    };
    query?: never;
    url: '/SimpleNotificationService-{name}.pem';
};

export type GetSigningCertificateErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `not_found`: The path names something that does not exist, or that the key may not see.
     */
    404: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetSigningCertificateError = GetSigningCertificateErrors[keyof GetSigningCertificateErrors];

export type GetSigningCertificateResponses = {
    /**
     * X.509 in PEM
     */
    200: string;
};

export type GetSigningCertificateResponse = GetSigningCertificateResponses[keyof GetSigningCertificateResponses];

export type GetOpenApiDocumentData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/openapi.json';
};

export type GetOpenApiDocumentErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetOpenApiDocumentError = GetOpenApiDocumentErrors[keyof GetOpenApiDocumentErrors];

export type GetOpenApiDocumentResponses = {
    /**
     * The whole file; browsers may cache it for 5 minutes.
     */
    200: string;
};

export type GetOpenApiDocumentResponse = GetOpenApiDocumentResponses[keyof GetOpenApiDocumentResponses];

export type GetDocsPageData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/docs';
};

export type GetDocsPageErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetDocsPageError = GetDocsPageErrors[keyof GetDocsPageErrors];

export type GetDocsPageResponses = {
    /**
     * The whole file; browsers may cache it for 5 minutes.
     */
    200: string;
};

export type GetDocsPageResponse = GetDocsPageResponses[keyof GetDocsPageResponses];

export type GetDocsScriptData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/_assets/docs.js';
};

export type GetDocsScriptErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetDocsScriptError = GetDocsScriptErrors[keyof GetDocsScriptErrors];

export type GetDocsScriptResponses = {
    /**
     * The whole file; browsers may cache it for 5 minutes.
     */
    200: Blob | File;
};

export type GetDocsScriptResponse = GetDocsScriptResponses[keyof GetDocsScriptResponses];

export type GetDocsRendererData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/_assets/scalar.js';
};

export type GetDocsRendererErrors = {
    /**
     * `validation_failed`: Members of the request are wrong; `details` names each of them.
     */
    400: Error;
    /**
     * `internal`: The server failed in a way that nobody expected; its log has the request’s id.
     */
    500: Error;
    /**
     * `storage_unavailable`: Redis does not answer or refuses writes; a change may or may not have been made.
     */
    503: Error;
};

export type GetDocsRendererError = GetDocsRendererErrors[keyof GetDocsRendererErrors];

export type GetDocsRendererResponses = {
    /**
     * The whole file; browsers may cache it for 5 minutes.
     */
    200: Blob | File;
};

export type GetDocsRendererResponse = GetDocsRendererResponses[keyof GetDocsRendererResponses];

export type ReceiveNotificationWebhookPayload = Notification;

export type ReceiveNotificationWebhookRequest = {
    body: ReceiveNotificationWebhookPayload;
    key: 'notification';
    path?: never;
    query?: never;
};

export type ReceiveConfirmationWebhookPayload = Confirmation;

export type ReceiveConfirmationWebhookRequest = {
    body: ReceiveConfirmationWebhookPayload;
    key: 'confirmation';
    path?: never;
    query?: never;
};

export type ReceiveNoticeWebhookPayload = Notice;

export type ReceiveNoticeWebhookRequest = {
    body: ReceiveNoticeWebhookPayload;
    key: 'notice';
    path?: never;
    query?: never;
};

export type ReceiveQueueBatchWebhookPayload = QueueEvent;

export type ReceiveQueueBatchWebhookRequest = {
    body: ReceiveQueueBatchWebhookPayload;
    key: 'queueBatch';
    path?: never;
    query?: never;
};
