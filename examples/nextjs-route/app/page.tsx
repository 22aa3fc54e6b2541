export default function Page() {
  return <p>Messages arrive at /hooks.</p>
}
