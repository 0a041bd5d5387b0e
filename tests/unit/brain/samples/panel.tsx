import React, { useState } from "react";
import { Button } from "@ui/button";
import styles from "./panel.module.css";

interface Props {
  title: string;
  children?: React.ReactNode;
}

// A panel that folds.
export const Panel: React.FC<Props> = ({ title, children }) => {
  const [open, setOpen] = useState(false);

  const toggle = () => setOpen(!open);

  return (
    <section className={styles.panel}>
      <Button onClick={toggle}>{title}</Button>
      {open && <Body.Content>{children}</Body.Content>}
    </section>
  );
};

const Fancy = React.memo(function Fancy(props: Props) {
  return <Panel {...props} />;
});

export class Board extends React.Component<Props> {
  state = { count: 0 };

  render() {
    return <Fancy title={format(this.state.count)} />;
  }
}

export default function App() {
  return <Board title="Hello" />;
}
