//! What will disturb a measurement or a cell, and how to mend it.

mod live;
