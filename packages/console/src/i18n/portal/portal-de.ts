/** Every word of the portal in German. */
import type { PortalWords } from './portal-en.ts'

const whole = new Intl.NumberFormat('de')

const many = (count: number, one: string, more: string) =>
  `${whole.format(count)} ${count === 1 ? one : more}`
const messages = (count: number) => many(count, 'Nachricht', 'Nachrichten')

export const portalDe: PortalWords = {
  opening: {
    opens: 'Ihre Webhooks werden geöffnet',
    noLink: 'Diese Seite öffnet sich mit einem Link',
    notOpened: 'Dieser Link hat sich nicht geöffnet',
    ended: 'Ihre Sitzung ist beendet',
    why: 'Ein Link gilt einmal und zehn Minuten lang. Gehen Sie dorthin zurück, wo Sie ihn bekommen haben, und öffnen Sie einen neuen.',
  },
  head: {
    product: 'Webhooks',
    ends: 'Sitzung endet',
    end: 'Sitzung beenden',
    stale:
      'Zurzeit besteht keine Verbindung. Diese Seite ist vielleicht nicht aktuell und fragt von selbst wieder nach.',
  },
  parts: {
    loading: 'Wird geladen',
    retry: 'Noch einmal versuchen',
    closeDialog: 'Schließen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    notCopied: 'Bitte von Hand kopieren',
    never: 'nie',
    failed: 'Das hat nicht geklappt',
    noAnswer: 'Keine Antwort',
    noAnswerWhy: 'Zurzeit besteht keine Verbindung.',
    request: (id) => `Kennung für den Support: ${id}`,
    bodyCut: (size) => `Nur der Anfang ist zu sehen: ${size}.`,
  },
  cancel: 'Abbrechen',
  save: 'Speichern',
  more: 'Mehr anzeigen',
  none: 'keine',
  endpoints: {
    title: 'Endpunkte',
    what: 'Ein Endpunkt ist eine Adresse bei Ihnen, an die wir Nachrichten senden.',
    add: 'Endpunkt hinzufügen',
    count: (count) => many(count, 'Endpunkt', 'Endpunkte'),
    countMore: (count) => `${many(count, 'Endpunkt', 'Endpunkte')} angezeigt, es gibt weitere`,
    search: 'Name oder Adresse enthält',
    state: 'Zustand',
    type: 'Ereignistyp',
    source: 'Quelle',
    anyState: 'jeder',
    anyType: 'jeder',
    anySource: 'alle',
    empty: 'Sie haben noch keinen Endpunkt',
    emptyAdd: 'Fügen Sie einen hinzu. Er bekommt von da an Nachrichten.',
    emptyWait: 'Sobald ein Endpunkt für Sie eingerichtet ist, sehen Sie ihn hier.',
    noMatch: 'Kein Endpunkt passt dazu',
    clear: 'Alle Endpunkte anzeigen',
    allTypes: 'alle Ereignisse',
    typesMore: (count) => `und ${whole.format(count)} weitere`,
    waiting: (count) => `${messages(count)} in Wartestellung`,
    full: 'Es gibt so viele Endpunkte, wie es geben darf, oder es hat sich gerade etwas geändert. Sehen Sie in der Liste nach.',
  },
  states: { working: 'funktioniert', failing: 'gestört', paused: 'angehalten', pending: 'nicht bestätigt' },
  standing: {
    working: 'Es wartet keine Nachricht.',
    new: 'Es wurde noch nichts gesendet. Die erste Nachricht erscheint hier, sobald sie gesendet wird.',
    onTheWay: (count) => `${many(count, 'Nachricht ist', 'Nachrichten sind')} unterwegs.`,
    failing: (status) =>
      `Ihr Endpunkt nimmt zurzeit keine Nachrichten an. Zuletzt hat er mit ${status} geantwortet.`,
    failingSomehow: 'Ihr Endpunkt nimmt zurzeit keine Nachrichten an.',
    waits: (count, when) =>
      `${many(count, 'Nachricht wartet', 'Nachrichten warten')}. Wir versuchen es ${when} wieder, und nichts geht verloren.`,
    waitsOnly: (count) => `${many(count, 'Nachricht wartet', 'Nachrichten warten')}.`,
    paused:
      'Solange der Endpunkt angehalten ist, wird nichts gesendet. Neue Nachrichten warten, bis Sie fortsetzen.',
    gone:
      'Ihr Endpunkt hat mit 410 (Gone) geantwortet, deshalb haben wir aufgehört. Wenn er wieder da ist, setzen Sie fort: ' +
      'Zuerst kommt eine Nachricht, und wenn sie ankommt, folgen die anderen.',
    pending:
      'Ihr Endpunkt muss zuerst bestätigen. Wir haben ihm eine Anfrage mit einem Link geschickt, den er öffnen muss.',
    moving: (address) => `Die Nachrichten gehen an ${address}, sobald diese Adresse bestätigt hat.`,
  },
  actions: {
    back: 'Alle Endpunkte',
    gone: 'Diesen Endpunkt gibt es nicht mehr',
    goneWhy: 'Er wurde gelöscht, vielleicht in einem anderen Fenster.',
    test: 'Test senden',
    pause: 'Anhalten',
    resume: 'Fortsetzen',
    edit: 'Bearbeiten',
    delete: 'Löschen',
    deleteTitle: 'Diesen Endpunkt löschen?',
    deleteWhat: (count) =>
      count === 0
        ? 'Er bekommt keine Nachrichten mehr. Das lässt sich nicht rückgängig machen.'
        : `Er bekommt keine Nachrichten mehr, und ${many(count, 'wartende Nachricht wird', 'wartende Nachrichten werden')} ` +
          'verworfen. Das lässt sich nicht rückgängig machen.',
  },
  form: {
    address: 'Adresse',
    addressHint: 'Eine https-Adresse, die POST-Anfragen aus dem Internet annimmt.',
    name: 'Name',
    nameHint: 'Damit Sie den Endpunkt wiedererkennen. Er darf leer bleiben.',
    source: 'Nachrichten aus',
    types: 'Ereignisse',
    typesAll: 'Alle Ereignisse, auch solche, die später dazukommen',
    typesSome: 'Nur diejenigen, die ich auswähle',
    typesSearch: 'Ereignistyp suchen',
    typesBelow: (prefix) => `Alles, was mit ${prefix}. beginnt`,
    typesNone: 'Wählen Sie mindestens einen Ereignistyp.',
    deprecated: 'läuft aus',
    showType: (name) => `So sieht ${name} aus`,
    example: 'Beispiel',
    exampleNumber: (number, of) => `Beispiel ${whole.format(number)} von ${whole.format(of)}`,
    noExample: 'Zu diesem Ereignistyp gibt es kein Beispiel.',
    schema: 'Felder',
    schemaText: 'Als JSON Schema',
    required: 'immer dabei',
    noSchema: 'Die Felder dieses Ereignistyps sind nicht beschrieben.',
    rate: 'Höchstens so viele Nachrichten in der Sekunde',
    rateHint: 'Leer: so schnell, wie sie kommen. Was darüber liegt, wartet, und nichts geht verloren.',
    rateHintMax: (max) =>
      `Leer: höchstens ${whole.format(max)}. Was darüber liegt, wartet, und nichts geht verloren.`,
    moveTitle: 'Adresse ändern',
    moveHint: 'Auch wartende Nachrichten gehen an die neue Adresse.',
    editTitle: 'Diesen Endpunkt bearbeiten',
  },
  settings: {
    title: 'Einstellungen',
    editAddress: 'Adresse ändern',
    speed: 'Tempo',
    rate: (rate) => `höchstens ${whole.format(rate)} in der Sekunde`,
    noRate: 'so schnell, wie sie kommen',
    since: 'Hinzugefügt',
  },
  secret: {
    title: 'Geheimnis für Signaturen',
    made: 'Ihr Geheimnis für Signaturen',
    once:
      'Mit diesem Geheimnis prüft Ihr Endpunkt, ob eine Nachricht wirklich von uns kommt. Speichern Sie es jetzt, denn es ' +
      'ist nur dieses eine Mal zu sehen.',
    overlap:
      'Frühere Geheimnisse gelten noch einen Tag, sodass Sie Ihres bis dahin jederzeit austauschen können.',
    why:
      'Jede Nachricht ist signiert, sodass Ihr Endpunkt prüfen kann, ob sie von uns kommt. Wenn Sie das Geheimnis verloren ' +
      'haben, erzeugen Sie ein neues.',
    rotate: 'Neues Geheimnis erzeugen',
    rotateTitle: 'Ein neues Geheimnis erzeugen?',
    stored: 'Ich habe es gespeichert',
    copy: 'Geheimnis kopieren',
    verify: 'So prüfen Sie die Signatur',
    verifySteps:
      'Die Header webhook-id, webhook-timestamp und webhook-signature folgen Standard Webhooks, und es gibt eine ' +
      'Bibliothek für die meisten Sprachen. In JavaScript:',
    libraries: 'Bibliotheken für andere Sprachen',
  },
  test: {
    title: 'Test senden',
    what: 'Welche Nachricht?',
    plain: 'Eine kurze Testnachricht',
    typed: (name) => `Beispiel für ${name}`,
    why: 'Sie wird einmal und nur an Ihren Endpunkt gesendet und zählt nirgends.',
    send: 'Senden',
    sending: 'Wird gesendet',
    good: (status, took) => `Es funktioniert: Ihr Endpunkt hat nach ${took} mit ${status} geantwortet.`,
    bad: (status, took) =>
      `Ihr Endpunkt hat nach ${took} mit ${status} geantwortet. Nur 200 bis 299 bedeutet, dass er sie angenommen hat.`,
    silent: (why, took) => `Es kam keine Antwort: ${why}, nach ${took}.`,
    answer: 'Die Antwort',
    emptyAnswer: 'Die Antwort hatte keinen Text.',
  },
  week: {
    title: 'Die letzten sieben Tage',
    delivered: 'zugestellt',
    failed: 'Fehlversuche',
    givenUp: 'aufgegeben',
    mean: 'im Mittel nach',
    day: 'Tag',
    table: 'Dasselbe als Tabelle',
    nothing: 'Noch keine Zahlen aus den letzten sieben Tagen. Sie kommen einmal in der Minute dazu.',
    notKept: 'Für diesen Endpunkt werden keine Zahlen geführt.',
    summary: (delivered, failed, givenUp) =>
      `${whole.format(delivered)} zugestellt, ${many(failed, 'Fehlversuch', 'Fehlversuche')}, ${whole.format(givenUp)} aufgegeben`,
  },
  messages: {
    title: 'Nachrichten',
    show: 'Zeigen',
    any: 'alle',
    states: { delivered: 'zugestellt', waiting: 'wartet', failed: 'gescheitert' },
    empty: 'Es wurde noch nichts gesendet',
    emptyWhy:
      'Die erste Nachricht erscheint hier, sobald sie gesendet wird. Ein Test zeigt Ihnen, ob Ihr Endpunkt antwortet.',
    noneOf: {
      delivered: 'In letzter Zeit wurde keine Nachricht zugestellt',
      waiting: 'Keine Nachricht wartet',
      failed: 'In letzter Zeit ist keine Nachricht gescheitert',
    },
    noneFailedWhy:
      'Nachrichten, die nicht zugestellt werden konnten, erscheinen hier, und Sie können sie noch einmal senden.',
    noneYet: 'Bisher wurde keine Nachricht gefunden',
    noneSince: (time) => `Keine Nachricht seit ${time}`,
    further: 'Weiter zurück suchen',
    scannedTo: (time) => `Nachrichten vor ${time} sind nicht zu sehen.`,
    untyped: 'Nachricht',
    attempts: (count) => many(count, 'Versuch', 'Versuche'),
    answered: (status) => `Antwort ${status}`,
    id: 'Nummer der Nachricht',
    published: 'Veröffentlicht',
    text: 'Inhalt',
    textGone: 'Der Inhalt ist nicht mehr gespeichert.',
    textHidden: 'Der Inhalt ist in dieser Sitzung nicht zu sehen.',
    history: 'Versuche',
    noHistory: 'Zu dieser Nachricht ist kein Versuch aufgezeichnet.',
    attempt: (number) => `Versuch ${whole.format(number)}`,
    after: (took) => `nach ${took}`,
    unknown: 'Was aus dieser Nachricht geworden ist, ist nicht mehr bekannt.',
    resend: 'Noch einmal senden',
    resent: 'Noch einmal gesendet. Das Ergebnis erscheint gleich hier.',
    cannotResend: 'Sie kann nicht noch einmal gesendet werden, weil ihr Inhalt nicht mehr gespeichert ist.',
  },
  resend: {
    open: 'Gescheiterte noch einmal senden',
    title: 'Gescheiterte Nachrichten noch einmal senden',
    since: 'Gescheitert seit',
    spans: { hour: 'einer Stunde', day: 'einem Tag', week: 'sieben Tagen', all: 'jeher' },
    counting: 'Wird gezählt',
    counted: (count, rate) => `${messages(count)}, höchstens ${whole.format(rate)} in der Sekunde.`,
    none: 'Seitdem ist keine gescheiterte Nachricht gespeichert.',
    send: (count) => `${messages(count)} noch einmal senden`,
    begun: (count) =>
      `${many(count, 'Nachricht wird', 'Nachrichten werden')} noch einmal gesendet. Die Ergebnisse erscheinen unten.`,
  },
  failures: {
    timeout: 'es hat zu lange gedauert',
    connection_refused: 'die Verbindung wurde abgelehnt',
    connection_reset: 'die Verbindung wurde abgebrochen',
    connection_failed: 'es kam keine Verbindung zustande',
    dns: 'der Name des Rechners wurde nicht gefunden',
    tls: 'das Zertifikat wurde nicht anerkannt',
    invalid_response: 'die Antwort war kein HTTP',
    forbidden_address: 'die Adresse ist von hier nicht erreichbar',
    other: 'es kam keine Antwort',
  },
  problems: {
    noAnswer: 'Zurzeit besteht keine Verbindung. Bitte versuchen Sie es noch einmal.',
    validation_failed: 'Etwas im Formular stimmt nicht.',
    not_found: 'Das gibt es nicht mehr.',
    subscription_exists: 'Ein anderer Endpunkt hat diese Adresse schon.',
    conflict: 'Hier hat sich gerade etwas geändert. Sehen Sie nach und versuchen Sie es dann noch einmal.',
    wrong_state: 'Das geht erst, wenn der Endpunkt bestätigt hat.',
    redrive_active: 'Es werden schon Nachrichten noch einmal gesendet. Warten Sie, bis das fertig ist.',
    quota_exceeded:
      'Sie haben so viele Endpunkte, wie Sie haben dürfen. Entfernen Sie erst einen, oder fragen Sie uns nach mehr.',
    rate_limited: 'Das war oft in kurzer Zeit. Bitte warten Sie ein wenig.',
    body_gone:
      'Der Inhalt dieser Nachricht ist nicht mehr gespeichert, deshalb kann sie nicht noch einmal gesendet werden.',
    forbidden: 'Diese Sitzung darf das nicht.',
    storage: 'Das kann zurzeit nicht gespeichert werden. Bitte versuchen Sie es später noch einmal.',
    other: 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.',
    fields: {
      endpoint: 'Geben Sie eine https-Adresse ein, die aus dem Internet erreichbar ist.',
      name: 'Geben Sie einen Namen von höchstens 100 Zeichen ein.',
      topic: 'Wählen Sie, woher die Nachrichten kommen.',
      eventTypes: 'Wählen Sie andere Ereignistypen.',
      eventType: 'Zu diesem Ereignistyp gibt es kein Beispiel.',
      maxPerSecond: 'Geben Sie eine ganze Zahl ein, eine von 0,001 bis 1 oder nichts.',
    },
  },
}
